"""Runs the real `paddock` in a home of its own, as a user at a shell would."""
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(os.environ["PADDOCK_TEST_TOP"])
PADDOCK = TOP / "bin" / "paddock"
AGENT = TOP / "bin" / "paddock-agent"
GUESTS = TOP / "guests"
# Only there so that a hang becomes a failure; nothing measures speed here.
PATIENCE = int(os.environ.get("PADDOCK_TEST_PATIENCE", "60"))


@dataclass
class Done:
    """What a finished program left: status, streams, and for `run` the outcome that it wrote."""

    argv: list
    code: int
    out_bytes: bytes
    err_bytes: bytes
    report: dict = field(default_factory=dict)  # docs/outcome.md

    @property
    def out(self):
        return self.out_bytes.decode(errors="replace")

    @property
    def err(self):
        return self.err_bytes.decode(errors="replace")

    def json(self):
        return json.loads(self.out_bytes)

    @property
    def outcome(self):
        return self.report["outcome"]

    @property
    def decision(self):
        return self.report["decision"]

    @property
    def denials(self):
        return self.outcome["denials"]

    def denied(self, kind, what=""):
        """The denial records of that kind that name `what`."""
        return [d for d in self.denials if d["kind"] == kind and what in d["what"]]

    @property
    def view(self):
        return self.report["view"]

    def control(self, name):
        """The state of one control of the decision: enforced, approximated or refused."""
        return {c["name"]: c["state"] for c in self.decision["controls"]}[name]

    def ok(self):
        assert self.code == 0, self
        return self

    def refused(self, *words):
        """Paddock itself said no: status 125, nothing on stdout, and the message names `words`."""
        assert self.code == 125, self
        for word in words:
            assert word.lower() in self.err.lower(), f"no '{word}' in: {self.err}"
        return self

    def __str__(self):
        return (
            f"$ {' '.join(map(str, self.argv))}\nstatus {self.code}\nstdout: {self.out[-3000:]}\n"
            f"stderr: {self.err[-3000:]}\nreport: {json.dumps(self.report)[:3000]}"
        )

    __repr__ = __str__


class Paddock:
    """One state directory, one HOME, one workspace."""

    def __init__(self, base, workspace):
        self.base = Path(base)
        self.state = self.base / "state"
        self.home = self.base / "home"
        self.workspace = Path(workspace)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "PADDOCK_HOME": str(self.state),
            "USER": os.environ.get("USER", "root"),
        }

    def argv(self, *args):
        return [str(PADDOCK), *map(str, args)]

    def __call__(self, *args, cwd=None, stdin=None, env=None, patience=PATIENCE):
        """Any paddock command. `stdin` is bytes; without it stdin is /dev/null."""
        process = self.start(
            *args,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            out, err = process.communicate(stdin, timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            hung = Done(self.argv(*args), -1, out, err)
            raise AssertionError(f"did not end within {patience} s: {hung}") from None
        return Done(self.argv(*args), process.returncode, out, err)

    def run(self, *command, options=(), **how):
        """`paddock run --outcome … OPTIONS -- COMMAND`."""
        with tempfile.TemporaryDirectory(dir=self.base, prefix="outcome-") as folder:
            file = Path(folder) / "outcome.json"
            done = self("run", "--outcome", file, *options, "--", *command, **how)
            if file.exists() and file.stat().st_size:
                done.report = json.loads(file.read_text())
        return done

    def sh(self, script, *options, **how):
        return self.run("sh", "-c", script, options=options, **how)

    def guest(self, name, *args, options=(), **how):
        """One of tests/guests, shown inside below /guests."""
        return self.run(
            f"/guests/{name}", *args, options=("--mount", f"{GUESTS}:/guests:ro", *options), **how
        )

    def start(self, *args, cwd=None, env=None, **streams):
        """A running paddock in a session of its own; the caller ends it (see `ended`)."""
        return subprocess.Popen(
            self.argv(*args),
            cwd=cwd or self.workspace,
            env={**self.env, **(env or {})},
            start_new_session=True,
            **{"stdin": subprocess.DEVNULL, **streams},
        )

    def views(self):
        return self("ls", "--json").ok().json()


def ended(process):
    """Waits for a started paddock, killing it when it does not end by itself."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
