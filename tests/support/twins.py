"""The twins of the refusals: the same attack with the guard off, on the bare host or in namespaces that
any user can make (harmless: nothing outside of them changes)."""
import subprocess

from .program import GUESTS

BARE_NAMESPACES = [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--ipc",
    "--net",
    "--mount-proc",
]


def bare(*command, timeout=60):
    """In namespaces of its own without any filter: what a hand-made sandbox would allow."""
    return subprocess.run(
        [*BARE_NAMESPACES, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def outside(*command, cwd=None, timeout=60):
    return subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def probed(text):
    """The answers of guest `probe`: name -> ok or errno name."""
    return dict(line.split(": ") for line in text.splitlines())


def probe_bare(*names):
    return probed(bare(GUESTS / "probe", *names).stdout)
