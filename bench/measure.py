"""Rounds of commands in turn, medians, and rows of the table."""
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import Optional


@dataclass
class Command:
    argv: list
    cwd: Optional[str] = None
    env: Optional[dict] = None
    user: Optional[int] = None  # who runs it; None: as we are

    def seconds(self):
        how = (
            {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        )
        started = time.monotonic()
        done = subprocess.run(
            self.argv,
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            **how,
        )
        took = time.monotonic() - started
        if done.returncode:
            raise RuntimeError(
                f"{' '.join(map(str, self.argv))}: status {done.returncode}: "
                f"{done.stderr.decode(errors='replace')[-500:]}"
            )
        return took


@dataclass
class Times:
    values: list

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def p90(self):
        return sorted(self.values)[int(0.9 * (len(self.values) - 1))]


def in_turn(candidates, rounds, warm_up=1):
    """candidates: name -> a Command, or a list of them measured as one, or a function that returns
    seconds. Returns name -> Times."""
    taken = {name: [] for name in candidates}
    for number in range(rounds + warm_up):
        for name, candidate in candidates.items():
            if callable(candidate):
                seconds = candidate()
            elif isinstance(candidate, list):
                seconds = sum(command.seconds() for command in candidate)
            else:
                seconds = candidate.seconds()
            if number >= warm_up:
                taken[name].append(seconds)
    return {name: Times(values) for name, values in taken.items()}


@dataclass
class Row:
    what: str
    figure: str
    target: str = ""
    met: Optional[bool] = None  # None: no target, or not measured

    @staticmethod
    def ratio(what, ours, peer, at_most=None, peer_name=""):
        """ours / peer, both Times; `at_most` is the target."""
        value = ours.median / peer.median
        figure = (
            f"{value:7.3f} x   ({ours.median * 1e3:.1f} ms, p90 {ours.p90 * 1e3:.1f}; "
            f"{peer_name} {peer.median * 1e3:.1f} ms)"
        )
        if at_most is None:
            return Row(what, figure)
        return Row(what, figure, f"<= {at_most:.3g} x", value <= at_most)

    @staticmethod
    def missing(what, why):
        return Row(what, f"not measured: {why}")


def print_row(row):
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    print(f"{row.what:52} {row.figure:66} {row.target:12} {verdict}".rstrip(), flush=True)
