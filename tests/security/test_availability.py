"""Bombs, fills and storms hurt the sandbox alone and end within its limits; nothing is left."""
import os
import subprocess
import time

import pytest

from support.host import ROOT, Leaks
from support.program import GUESTS, ended
from support.trees import digest
from support.twins import outside

SHOW_GUESTS = ("--mount", f"{GUESTS}:/guests:ro")


def test_a_fork_bomb_is_bounded_and_gone(paddock, base):
    done = paddock.guest("bomb", options=["--pids", "128", "--timeout", "3"])
    assert done.code in (124, 137), done
    assert not Leaks(base).found()
    if done.control("limits.pids") == "enforced" and ROOT:
        assert done.denied("limit", "pids"), done


def test_twin_without_the_limit_more_processes_are_made():
    assert outside(GUESTS / "forks", "400").stdout == "400 ok\n"


@pytest.mark.parametrize(
    "script",
    [
        "/guests/eat_memory 3000",
        "/guests/eat_memory 3000 memfd",
        "head -c 3G /dev/zero > /dev/shm/x",
        "head -c 3G /dev/zero > /tmp/x",
        "tail /dev/zero",
        "python3 -c \"x = 'a' * (3 << 30)\"",
    ],
)
def test_a_memory_bomb_ends_within_its_limit(paddock, script):
    done = paddock.sh(script, "--memory", "200m", "--timeout", "60", *SHOW_GUESTS)
    if done.control("limits.memory") == "enforced":
        assert done.code not in (0, 124), done
        assert done.outcome["usage"]["peak_memory_bytes"] <= 220 << 20
    else:
        assert done.control("limits.memory") in ("approximated", "refused")


def test_twin_without_the_limit_the_memory_is_had():
    assert outside(GUESTS / "eat_memory", "300").stdout == "ate 300\n"


def test_descriptors_run_out_inside_alone(paddock):
    script = "import os\nfs = []\ntry:\n  while True: fs.append(os.open('/dev/null', 0))\nexcept OSError as e: print(e.strerror)"
    assert paddock.run("python3", "-c", script).ok().out == "Too many open files\n"
    os.close(os.open("/dev/null", 0))


def test_filling_the_disk_ends_at_the_limit_and_frees_it(paddock, base):
    before = os.statvfs(base).f_bavail * os.statvfs(base).f_frsize
    done = paddock.sh(
        "cat /dev/zero > fill1; cat /dev/zero > /tmp/fill2; cat /dev/zero > ~/fill3; cat /dev/zero > /var/tmp/fill4",
        "--disk",
        "100m",
        "--memory",
        "300m",
        "--timeout",
        "60",
    )
    assert done.code != 0
    used = before - os.statvfs(base).f_bavail * os.statvfs(base).f_frsize
    assert used < 600 << 20, f"{used} bytes of the host are gone"
    if done.view:
        paddock("discard", done.view).ok()


def test_an_output_flood_is_bounded(paddock):
    done = paddock.sh("yes", "--output-limit", "1m", "--timeout", "60")
    assert done.code not in (0, 124) and len(done.out_bytes) <= 1_100_000


def test_an_output_flood_without_limit_costs_no_memory(paddock):
    done = paddock.sh("head -c 200M /dev/zero", "-q")
    assert len(done.ok().out_bytes) == 200 << 20


def test_double_forked_sessions_do_not_outlive_the_command(paddock):
    for _ in range(3):
        paddock.sh(
            "for i in 1 2 3 4 5; do /guests/escape_tree 1000; done; echo ok", *SHOW_GUESTS
        ).ok()


def test_twin_outside_they_do_outlive_it():
    subprocess.run([GUESTS / "escape_tree", "3"], check=True)
    found = outside("pgrep", "-x", "escape_tree").stdout.split()
    assert found
    time.sleep(3.2)


def test_a_process_that_makes_itself_subreaper_keeps_nothing(paddock):
    script = (
        "import ctypes, os, time\nctypes.CDLL(None).prctl(36, 1)\n"
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)\nprint('up', flush=True)"
    )
    paddock.run("python3", "-c", script).ok()


def test_processes_in_uninterruptible_sleep_do_not_hang_the_end(paddock):
    # vfork leaves the parent in an uninterruptible sleep until the child execs.
    script = "import ctypes, time\nl = ctypes.CDLL(None)\nif l.vfork() == 0: time.sleep(1000)"
    done = paddock.run("python3", "-c", script, options=["--timeout", "2"])
    assert done.code in (124, 139, 137, 0)


def test_stop_and_continue_do_not_escape_the_timeout(paddock):
    assert paddock.sh("kill -STOP $$", "--timeout", "2").code == 124


def test_a_storm_of_short_runs_leaves_nothing(paddock, base):
    leaks = Leaks(base)
    for _ in range(40):
        paddock.run("true").ok()
    assert not leaks.wait_for_none(), leaks.found()
    assert not list((base / "state" / "sandboxes").glob("[!.]*"))
    assert not list((base / "state" / "views").glob("[!.]*"))


def test_kill_during_creation_leaves_nothing(paddock, base):
    leaks = Leaks(base)
    for number in range(25):
        process = paddock.start("run", "-q", "--", "true")
        time.sleep(number * 0.002)
        process.kill()
        ended(process)
    paddock("ls").ok()
    assert not leaks.wait_for_none(), leaks.found()
    assert not list((base / "state" / "sandboxes").glob("[!.]*"))


def test_a_changed_clock_does_not_move_the_deadline(paddock):
    assert paddock.sh("date -s '2040-01-01' 2>/dev/null; sleep 1000", "--timeout", "2").code == 124


def test_deep_and_wide_trees_are_handled(paddock, repo):
    script = "import os\nfor i in range(400):\n  os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').close()"
    view = paddock.run("python3", "-c", script).ok().view
    paddock("diff", "--stat").ok()
    paddock("discard", view).ok()
    before = digest(repo)
    paddock.run(
        "python3",
        "-c",
        "import os\nos.mkdir('w')\nfor i in range(20000): open(f'w/{i}', 'w').close()",
    ).ok()
    assert paddock("diff", "--name-only").ok().out.count("\n") >= 20000
    paddock("discard").ok()
    assert digest(repo) == before


def test_cgroups_cannot_be_left(paddock):
    done = paddock.sh(
        "cat /proc/self/cgroup; for f in $(find /sys/fs/cgroup -name cgroup.procs -o -name tasks 2>/dev/null); do echo $$ > $f && echo moved; done; true"
    )
    assert "moved" not in done.out
