"""run --detach and attach: a command that goes on without the one who started it."""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time

import pytest
from support.daemon import Daemon
from support.program import PATIENCE
from support.trees import git


@pytest.fixture
def daemons(paddock):
    """Makes daemons, one at a time. At the end all sandboxes are killed and the last daemon stopped."""
    made = []

    def start(**options):
        made.append(Daemon(paddock, leased=True, **options))
        return made[-1]

    yield start
    last = made[-1] if made and made[-1].process.poll() is None else start()
    for sandbox in paddock("ps", "--json").ok().json()["sandboxes"]:
        paddock("kill", sandbox["id"])
    assert last.stop() == 0, last.log.read_text()


@pytest.fixture
def daemon(daemons):
    return daemons()


@pytest.fixture
def detach(paddock, repo):
    """Leaves a script going; returns its id."""

    def start(script, *options):
        done = paddock("run", "--detach", "--workspace", repo, *options, "--", "sh", "-c", script).ok()
        assert "paddock attach" in done.err
        return done.out.strip()

    return start


def wait_ended(paddock, id):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        runs = {r["id"]: r for r in paddock("attach", "--json").ok().json()["runs"]}
        if runs[id]["state"] == "ended":
            return runs[id]
        time.sleep(0.05)
    raise AssertionError("it does not end")


def test_without_a_daemon_it_is_said_how_to_start_one(paddock):
    for words in (("run", "--detach", "--", "true"), ("attach", "abcd")):
        done = paddock(*words)
        assert done.code == 125 and "paddock serve" in done.err, done


def test_it_goes_on_and_who_returns_has_all_output_and_the_status(paddock, repo, daemon, detach):
    id = detach("pwd; echo err >&2; while [ ! -e go ]; do sleep 0.05; done; echo more; echo n > new; exit 7")
    attached = paddock.start("attach", id, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert attached.stdout.readline().decode() == f"{repo}\n"
    paddock("exec", id, "--", "touch", "go").ok()
    out, err = attached.communicate(timeout=PATIENCE)
    assert (attached.returncode, out, err) == (7, b"more\n", b"err\n")
    # With its command the sandbox ends, and the view is what a run leaves.
    assert paddock("ps", "--json").ok().json()["sandboxes"] == []
    [step] = paddock("show", "--json", id).ok().json()["steps"]
    assert step["argv"][:2] == ["sh", "-c"]
    assert (step["outcome"]["ending"], step["outcome"]["code"]) == ("exited", 7)
    assert sorted(paddock("diff", "--name-only", id).ok().out.split()) == ["go", "new"]
    paddock("apply", id).ok()
    assert git(repo, "status", "--short") == "?? go\n?? new\n"


def test_one_that_has_ended_is_told_to_who_comes_late(paddock, daemon, detach):
    id = detach("echo out; echo err >&2; exit 3")
    ended = wait_ended(paddock, id)
    assert ended["outcome"]["code"] == 3
    for _ in range(2):
        done = paddock("attach", id[:6])
        assert (done.code, done.out, done.err) == (3, "out\n", "err\n")
    assert "sh -c" in paddock("attach").ok().out


def test_output_is_told_from_the_byte_that_is_asked_for(paddock, daemon, detach):
    id = detach("printf 0123456789; while [ ! -e go ]; do sleep 0.05; done")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        attached = paddock.start("attach", "--from", "4", id, stdout=subprocess.PIPE)
        got = os.read(attached.stdout.fileno(), 6) if True else b""
        attached.kill()
        attached.wait()
        if got:
            break
    assert got == b"456789"
    paddock("exec", id, "--", "touch", "go").ok()
    wait_ended(paddock, id)
    assert paddock("attach", "--from", "8", id).ok().out == "89"


def test_long_output_waits_for_nobody_and_the_latest_is_kept(paddock, daemon, detach):
    id = detach("seq 1000000; echo last")
    wait_ended(paddock, id)
    out = paddock("attach", id).ok().out
    assert out.endswith("1000000\nlast\n") and 30_000 < len(out) < 200_000


def test_signals_reach_it_and_a_hangup_leaves_it(paddock, daemon, detach):
    id = detach("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done")
    first = paddock.start("attach", id, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdout.readline() == b"ready\n"
    first.send_signal(signal.SIGHUP)
    assert first.wait(PATIENCE) == 0 and b"it goes on" in first.stderr.read()
    second = paddock.start("attach", id, stdout=subprocess.PIPE)
    assert second.stdout.readline() == b"ready\n"
    second.send_signal(signal.SIGINT)
    assert second.stdout.read() == b"caught\n" and second.wait(PATIENCE) == 5


def test_who_is_killed_while_attached_takes_nothing_along(paddock, daemon, detach):
    id = detach("echo ready; while [ ! -e go ]; do sleep 0.05; done; exit 4")
    first = paddock.start("attach", id, stdout=subprocess.PIPE)
    assert first.stdout.readline() == b"ready\n"
    first.kill()
    first.wait()
    paddock("exec", id, "--", "touch", "go").ok()
    assert wait_ended(paddock, id)["outcome"]["code"] == 4


def at_terminal(paddock, *words):
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    process = paddock.start(*words, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    return controller, process


def read_until(controller, word):
    seen = b""
    while word not in seen:
        try:
            piece = os.read(controller, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    assert word in seen, seen
    return seen


def test_a_terminal_is_left_by_its_keys_and_returned_to(paddock, repo, daemon):
    done = paddock("run", "--detach", "-t", "--workspace", repo, "--", "sh").ok()
    id = done.out.strip()
    controller, process = at_terminal(paddock, "attach", id)
    os.write(controller, b"test -t 0 && echo is-a-t''ty; stty size\n")
    seen = read_until(controller, b"33 77")
    assert b"is-a-tty" in seen
    fcntl.ioctl(controller, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 88, 0, 0))
    process.send_signal(signal.SIGWINCH)
    deadline = time.monotonic() + PATIENCE
    seen = b""
    while b"44 88" not in seen and time.monotonic() < deadline:
        os.write(controller, b"stty size; echo as''ked\n")
        seen += read_until(controller, b"asked")
    os.write(controller, b"\x10\x11")
    read_until(controller, b"it goes on")
    assert process.wait(PATIENCE) == 0
    os.close(controller)
    # Ctrl-P alone is the command's, and what was said before is there.
    controller, process = at_terminal(paddock, "attach", id)
    read_until(controller, b"44 88")
    os.write(controller, b"exit 9\n")
    assert process.wait(PATIENCE) == 9
    os.close(controller)


def test_input_that_was_kept_open_is_fed(paddock, daemon, detach):
    id = detach("cat; exit 6", "-i")
    done = paddock("attach", "-i", id, stdin=b"fed\n")
    assert (done.code, done.out) == (6, "fed\n")


def test_its_time_is_its_own(paddock, daemon, detach):
    id = detach("echo begun; sleep 1000", "--timeout", "2s")
    ended = wait_ended(paddock, id)
    assert ended["outcome"]["ending"] == "timed_out"
    done = paddock("attach", id)
    assert (done.code, done.out) == (124, "begun\n")


def test_one_that_is_killed_is_told_so(paddock, daemon, detach):
    id = detach("echo begun; echo n > new; sleep 1000")
    attached = paddock.start("attach", id, stdout=subprocess.PIPE)
    assert attached.stdout.readline() == b"begun\n"
    paddock("kill", id).ok()
    assert attached.wait(PATIENCE) != 0
    done = paddock("attach", id)
    assert (done.code, done.out) == (137, "begun\n") and "killed" in done.err
    assert paddock("diff", "--name-only", id).ok().out == "new\n"


def test_what_cannot_start_is_said_and_leaves_nothing(paddock, repo, daemon):
    id = paddock("run", "--detach", "--workspace", repo, "--", "no-such-command").ok().out.strip()
    done = paddock("attach", id)
    assert done.code == 127 and "command not found" in done.err, done
    # In a place of which no view is made, nothing is left going.
    refused = paddock("run", "--detach", "--workspace", "/usr", "--", "true")
    assert refused.code == 125 and "/usr" in refused.err
    assert paddock.views() == [] and paddock("ps", "--json").ok().json()["sandboxes"] == []


@pytest.mark.parametrize("flags", [("--egress", "open"), ("--memory", "1G"), ("--trust", "reviewed"), ("--mode", "direct"),
                                   ("--learn",), ("--outcome", "o"), ("--continue", "abcdef")])
def test_settings_that_would_not_hold_are_refused(paddock, repo, daemon, flags):
    done = paddock("run", "--detach", "--workspace", repo, *flags, "--", "true")
    assert done.code == 125 and "--detach" in done.err, done
    assert paddock("ps", "--json").ok().json()["sandboxes"] == []


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_it_goes_on_without_its_daemon_and_is_returned_to(paddock, daemons, detach, how):
    first = daemons()
    id = detach("echo before; while [ ! -e go ]; do sleep 0.05; done; echo n > new; echo after; exit 8")
    other = detach("echo begun; sleep 2; exit 2")
    attached = paddock.start("attach", id, stdout=subprocess.PIPE)
    assert attached.stdout.readline() == b"before\n"
    getattr(first, how)()
    assert attached.wait(PATIENCE) == 125
    time.sleep(3)  # the other one ends while nobody is there
    daemons()
    again = paddock.start("attach", id, stdout=subprocess.PIPE)
    assert again.stdout.readline() == b"before\n"
    paddock("exec", id, "--", "touch", "go").ok()
    assert again.stdout.read() == b"after\n" and again.wait(PATIENCE) == 8
    assert wait_ended(paddock, other)["outcome"]["code"] == 2
    assert paddock("attach", other).out == "begun\n"
    [step] = paddock("show", "--json", id).ok().json()["steps"]
    assert step["outcome"]["code"] == 8


def test_over_the_network_none_is_seen(paddock, daemon, detach):
    id = detach("echo secret; sleep 1000")
    gone = detach("echo secret")
    wait_ended(paddock, gone)
    assert daemon.request("GET", "/paddock/v1/runs")[1]["runs"] == []
    for run in (id, gone):
        for path in ("", "/output"):
            assert daemon.request("GET", f"/paddock/v1/runs/{run}{path}")[0] == 404
    status, answer, _ = daemon.request("POST", "/paddock/v1/runs", {"argv": ["true"], "workspace": "/srv"})
    assert (status, answer["error"]["code"]) == (403, "permission_denied")
    # The twin: one without a workspace is its maker's.
    status, made, _ = daemon.request("POST", "/paddock/v1/runs", {"argv": ["sh", "-c", "echo mine; exit 3"]})
    assert status == 201, made
    lines = [json.loads(l) for l in daemon.request("GET", f"/paddock/v1/runs/{made['id']}/output")[1].splitlines()]
    assert lines[-1]["event"] == "ended" and lines[-1]["outcome"]["code"] == 3
