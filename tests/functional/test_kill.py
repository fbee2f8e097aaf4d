"""Killed at random moments: the host tree is what it was, nothing is left, the work is kept."""
import os
import random
import signal
import subprocess
import time

from support.host import Leaks
from support.program import ended
from support.trees import digest, git

RUNS = int(os.environ.get("PADDOCK_KILLED_RUNS", "30"))


def test_runs_killed_at_random_moments_leave_the_host_as_it_was(paddock, repo, base):
    status = git(repo, "status", "--porcelain")  # refreshes the index
    before = digest(repo)
    started = time.monotonic()
    paddock.sh("echo warm").ok()
    whole = time.monotonic() - started
    chance = random.Random(7)
    leaks = Leaks(base)
    for number in range(RUNS):
        process = paddock.start(
            "run",
            "-q",
            "--",
            "sh",
            "-c",
            "echo x > new; rm -rf src .git; (setsid sleep 1000 &); (sleep 1000 &); sleep 1000",
        )
        time.sleep(chance.uniform(0, 1.5 * whole))
        os.kill(process.pid, signal.SIGKILL)
        ended(process)
    paddock("ls").ok()
    left = leaks.wait_for_none()
    assert not left, left
    assert digest(repo) == before and git(repo, "status", "--porcelain") == status
    listed = paddock.views()
    assert all(view["state"] == "interrupted" for view in listed)
    held = {path.name for path in (base / "state" / "views").glob("*")}
    assert held <= {view["id"] for view in listed}, "a view that ls does not list"
    assert not list((base / "state" / "sandboxes").glob("[!.]*"))


def test_a_killed_paddock_takes_its_sandbox_along(paddock, base):
    process = paddock.start(
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo up; trap '' TERM HUP INT; sleep 1000",
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"up\n"
    leaks_before = Leaks(base)
    process.kill()
    ended(process)
    process.stdout.close()
    leaks_before.processes = {}
    assert not [line for line in leaks_before.wait_for_none() if line.startswith("process")]
    paddock("ls").ok()


def test_a_stopped_paddock_does_not_stop_the_deadline(paddock):
    process = paddock.start(
        "run",
        "-q",
        "--timeout",
        "2",
        "--",
        "sh",
        "-c",
        "echo up; sleep 1000",
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"up\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    process.send_signal(signal.SIGCONT)
    assert ended(process) in (124, 137)
    process.stdout.close()
