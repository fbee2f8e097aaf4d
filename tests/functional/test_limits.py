"""Limits: enforced, or approximated and said so; what was hit comes back as data."""
import os
import re
import subprocess
import time

import pytest

from support.host import ROOT, has_cgroup_v1, has_cgroup_v2_memory, needs
from support.program import GUESTS, ended

SHOW_GUESTS = ("--mount", f"{GUESTS}:/guests:ro")


def test_the_defaults_are_stated(paddock):
    shown = paddock("policy", "explain").ok().out
    for name in ("limits.memory", "limits.pids", "limits.disk", "limits.cpus", "limits.timeout"):
        assert name in shown


def test_timeout_is_124_and_kills_the_whole_tree_at_once(paddock):
    started = time.monotonic()
    done = paddock.sh(
        "/guests/escape_tree 1000; (setsid sleep 1000 &); trap '' TERM INT; sleep 1000",
        "--timeout",
        "2",
        *SHOW_GUESTS,
    )
    assert done.code == 124 and done.outcome["ending"] == "timed_out"
    assert time.monotonic() - started < 20  # the leak check then looks for what lives on


def test_timeout_fires_with_an_open_stdin_and_a_blocked_reader(paddock):
    read_end, write_end = os.pipe()
    process = paddock.start(
        "run", "-q", "--timeout", "1", "--", "cat", stdin=read_end, stdout=subprocess.PIPE
    )
    assert ended(process) == 124
    process.stdout.close()
    os.close(read_end), os.close(write_end)
    process = paddock.start("run", "-q", "--timeout", "1", "--", "yes", stdout=subprocess.PIPE)
    time.sleep(3)  # nobody reads: the pipe is full
    process.stdout.close()
    assert ended(process) in (124, 141, 129)


def test_output_before_a_timeout_is_kept(paddock):
    done = paddock.sh("echo partial; sleep 1000", "--timeout", "1")
    assert (done.code, done.out) == (124, "partial\n")


def test_a_run_within_its_timeout_is_not_touched(paddock):
    assert paddock.sh("sleep 0.2; echo ok", "--timeout", "60").ok().out == "ok\n"


def test_timeout_accepts_units(paddock):
    assert paddock.sh("sleep 1000", "--timeout", "1s").code == 124
    assert paddock.sh("true", "--timeout", "soon").code == 125


@pytest.mark.parametrize("how", ["heap", "memfd", "pipes", "sockets"])
def test_more_memory_than_the_limit_is_stopped_and_named(paddock, how):
    if how in ("pipes", "sockets") and not ROOT:
        how = "memfd"
    done = paddock.guest("eat_memory", "600", how, options=["--memory", "128m"])
    if done.control("limits.memory") == "enforced":
        assert done.code == 137 and done.outcome["ending"] == "oom_killed", done
        assert "memory" in done.outcome["reason"]
        assert done.denied("limit", "memory")
    else:
        # A limit for each process is all there is without a cgroup: the decision said so beforehand.
        assert done.control("limits.memory") in ("approximated", "refused")


def test_memory_limit_holds_for_tmpfs_and_page_cache(paddock):
    done = paddock.sh(
        "dd if=/dev/zero of=/dev/shm/x bs=1M count=600 2>&1; dd if=/dev/zero of=/tmp/x bs=1M count=600 2>&1",
        "--memory",
        "128m",
    )
    if done.control("limits.memory") == "enforced":
        assert done.code != 0
    # The page cache of the workspace is no one's to be killed for.
    assert (
        paddock.sh(
            "dd if=/dev/zero of=big bs=1M count=300 2>/dev/null; ls -s big >/dev/null",
            "--memory",
            "128m",
        ).code
        == 0
    )


def test_an_oom_kill_of_a_child_is_named_though_the_command_goes_on(paddock):
    done = paddock.sh("/guests/eat_memory 600; echo went on", "--memory", "128m", *SHOW_GUESTS)
    if done.control("limits.memory") == "enforced":
        assert done.denied("limit", "memory"), done


def test_within_the_memory_limit_nothing_is_killed(paddock):
    assert paddock.guest("eat_memory", "100", options=["--memory", "512m"]).ok().out == "ate 100\n"


def test_pids_limit_stops_and_names(paddock):
    done = paddock.guest("forks", "300", options=["--pids", "50"]).ok()
    made, why = done.out.split()
    assert why == "EAGAIN" and int(made) <= 50
    if done.control("limits.pids") == "enforced" and ROOT:
        assert done.denied("limit", "pids"), done
    assert paddock.guest("forks", "300").ok().out == "300 ok\n"


def test_a_fork_bomb_dies_and_leaves_the_host_alone(paddock):
    done = paddock.guest("bomb", options=["--pids", "100", "--timeout", "3"])
    assert done.code in (124, 137)


def test_no_file_grows_past_the_disk_limit(paddock):
    done = paddock.sh(
        "head -c 200M /dev/zero > big; echo $?; stat -c %s big; rm -f big", "--disk", "50m"
    ).ok()
    status, size = done.out.split()
    # Ended by SIGXFSZ, or told that there is no space where a quota holds the limit.
    assert status != "0" and int(size) <= 50 * 1024 * 1024, done
    assert "File size limit exceeded" in done.err or "No space" in done.err, done
    assert done.control("limits.disk") in ("enforced", "approximated")


def test_files_that_together_pass_the_disk_limit_end_the_command(paddock):
    done = paddock.sh("for i in 1 2 3; do head -c 30M /dev/zero > f$i; done; sleep 60", "--disk", "50m")
    assert done.code != 0 and done.denied("limit", "disk"), done


def test_scratch_past_the_disk_limit_is_no_space_left(paddock):
    done = paddock.sh("for i in 1 2 3; do head -c 30M /dev/zero > /tmp/f$i || exit 9; done", "--disk", "50m")
    assert done.code == 9 and "No space left" in done.err, done
    assert done.denied("limit", "disk"), done


def test_many_empty_files_count_against_the_disk_limit(paddock):
    script = "import os\nos.mkdir('m')\nfor i in range(200000): open(f'm/{i}', 'w').close()"
    done = paddock.run("python3", "-c", script, options=["--disk", "50m", "--timeout", "120"])
    assert done.code != 0, "200000 files fit into 50 MB"


def test_output_limit_ends_the_flood_and_says_so(paddock):
    done = paddock.run("yes", options=["--output-limit", "100k"])
    assert done.code != 0
    assert 90_000 <= len(done.out_bytes) <= 110_000
    assert done.denied("limit", "output")


def test_output_within_the_limit_passes(paddock):
    assert paddock.sh("seq 100", "--output-limit", "1m").ok().out.endswith("100\n")


def test_cpus_limit_is_enforced_or_said_not_to_be(paddock):
    script = "import time, os\nt = time.monotonic()\nwhile time.monotonic() - t < 2: pass\nprint(time.process_time())"
    done = paddock.run("python3", "-c", script, options=["--cpus", "0.25"]).ok()
    if done.control("limits.cpus") == "enforced":
        assert float(done.out) < 1.2
    else:
        assert done.control("limits.cpus") in ("approximated", "refused")


def test_limits_are_enforced_where_this_host_can(paddock):
    needs("root", ROOT, "cgroups of the host are root's")
    needs("cgroup", has_cgroup_v1() or has_cgroup_v2_memory(), "")
    done = paddock.sh("true").ok()
    assert {done.control(f"limits.{name}") for name in ("memory", "pids", "cpus")} == {"enforced"}


def test_open_files_are_bounded(paddock):
    soft, hard = paddock.sh("ulimit -Sn; ulimit -Hn").ok().out.split()
    assert int(hard) <= 1 << 20 and int(soft) <= int(hard)


@pytest.mark.parametrize(
    "option,value",
    [
        ("--memory", "lots"),
        ("--memory", "-1"),
        ("--pids", "0"),
        ("--pids", "x"),
        ("--cpus", "-2"),
        ("--disk", "1x"),
        ("--output-limit", ""),
    ],
)
def test_a_limit_that_is_no_number_is_refused(paddock, option, value):
    done = paddock.sh("echo ran", f"{option}={value}")
    assert done.code == 125 and done.out == ""
    assert option.strip("-").split("-")[0] in done.err


def test_every_limit_is_in_the_decision(paddock):
    names = {c["name"] for c in paddock.sh("true").ok().decision["controls"]}
    assert {"limits.memory", "limits.pids", "limits.cpus", "limits.disk"} <= names, names


def test_what_is_approximated_says_what_it_misses(paddock):
    for control in paddock.sh("true").ok().decision["controls"]:
        if control["state"] != "enforced":
            assert re.search(r"\w+ \w+ \w+", control["detail"]), control
