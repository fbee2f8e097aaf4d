"""What this machine is, and what a finished run may have left on it."""
import os
import subprocess
import time
from pathlib import Path

import pytest

ROOT = os.geteuid() == 0


def needs(capability, holds, detail=""):
    """Skips the test, by the name that tests/expected_skips.txt knows, unless `holds`."""
    if not holds:
        pytest.skip(f"needs {capability}: {detail}")


def needs_root():
    needs("root", ROOT, "the suite runs as an ordinary user")


def has_cgroup_v1():
    return any(
        line.startswith("cgroup ") for line in Path("/proc/self/mounts").read_text().splitlines()
    )


def has_cgroup_v2_memory():
    file = Path("/sys/fs/cgroup/cgroup.controllers")
    return file.exists() and "memory" in file.read_text().split()


def processes():
    """pid -> (start time, pid namespace) of every process that we may look at."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                found[int(entry.name)] = (stat[19], stat[0])
            except OSError:
                pass
    return found


def command_line(pid):
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return "gone"


def belongs_to(pid, base):
    """Whether a process is of a sandbox of the test in `base`: its mounts, root or arguments name it."""
    for file in ("cmdline", "mountinfo", "cgroup"):
        try:
            if str(base).encode() in Path(f"/proc/{pid}/{file}").read_bytes():
                return True
        except OSError:
            pass
    return False


def mounts_below(base):
    return [
        line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(base) in line
    ]


def cgroups():
    """Directories of this user's sandboxes anywhere in the cgroup hierarchies."""
    found = set()
    for folder, folders, _ in os.walk("/sys/fs/cgroup"):
        for path in (os.path.join(folder, name) for name in folders):
            try:
                if "paddock" in path and os.stat(path).st_uid == os.geteuid():
                    found.add(path)
            except FileNotFoundError:
                pass
    return found


def lives_for_another(cgroup, base):
    """Whether a cgroup is of another test's sandbox: tests run side by side. It may be one that nothing
    runs in, because its daemon was killed and the next one has not come yet."""
    id = os.path.basename(cgroup).removeprefix("paddock-")
    others = Path(base).parents[2].glob(f"paddock-test-*/tmp/t-*/state/sandboxes/{id}")
    if any(base not in other.parents for other in others):
        return True
    try:
        pids = Path(cgroup, "cgroup.procs").read_text().split()
    except OSError:
        return False
    return bool(pids) and not any(belongs_to(pid, base) for pid in pids)


class Leaks:
    """Compares the host with what it was when this was made."""

    def __init__(self, base):
        self.base = base
        self.processes = processes()
        self.cgroups = cgroups()

    def found(self):
        mine = os.getpid()
        left = [
            f"process {pid}: {command_line(pid)}"
            for pid, seen in processes().items()
            if pid != mine
            and self.processes.get(pid, ("",))[0] != seen[0]
            and seen[1] != "Z"
            and belongs_to(pid, self.base)
        ]
        left += [f"mount {line}" for line in mounts_below(self.base)]
        left += [
            f"cgroup {path}"
            for path in cgroups() - self.cgroups
            if not lives_for_another(path, self.base)
        ]
        return left

    def wait_for_none(self, seconds=10):
        """What stays. The last teardown may still be under way when a killed paddock is gone, and
        cgroups of other tests come and go."""
        end = time.monotonic() + seconds
        left = self.found()
        while left and time.monotonic() < end:
            time.sleep(0.05)
            still = set(self.found())
            left = [leak for leak in left if leak in still]
        return left


def as_root_only(command):
    """Runs a set-up command of root (the twin of a guard); raises on failure."""
    return subprocess.run(command, check=True, capture_output=True, text=True)
