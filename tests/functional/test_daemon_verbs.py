"""create, exec, ps, cp and the others: the daemon from the command line."""
import json
import os
import pty
import signal
import subprocess
import time

import pytest
from support.daemon import Daemon
from support.program import PATIENCE


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def sandbox(daemon, paddock):
    return paddock("create").ok().out.strip()


def test_without_a_daemon_it_is_said_how_to_start_one(paddock):
    for words in (("ps",), ("create",), ("kill", "x"), ("cp", "x:a", "a"), ("inspect", "x")):
        done = paddock(*words)
        assert done.code == 1 and "paddock serve" in done.err, done
    assert paddock("exec", "x", "--", "true").code == 125


def test_a_sandbox_is_made_listed_and_killed(daemon, paddock):
    id = paddock("create", "-e", "FOO=bar", "--metadata", "k=v", "--timeout", "1h").ok().out.strip()
    assert id in paddock("ps").ok().out
    listed = paddock("ps", "--json").ok().json()["sandboxes"]
    assert [(s["id"], s["metadata"]) for s in listed] == [(id, {"k": "v"})]
    assert paddock("inspect", id[:6]).ok().json()["decision"]["level"] == "container"
    assert paddock("exec", id, "--", "printenv", "FOO").ok().out == "bar\n"
    assert paddock("create", "--json").ok().json()["state"] == "running"
    assert paddock("kill", id).ok().out == id + "\n"
    assert paddock("exec", id, "--", "true").code == 125
    assert "sandbox_ended" in paddock("logs", id).ok().out


def test_a_command_has_its_output_and_status(paddock, sandbox):
    done = paddock("exec", sandbox, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.code, done.out, done.err) == (7, "out\n", "err\n")
    assert paddock("exec", sandbox, "--", "sh", "-c", "kill -15 $$").code == 128 + 15
    missing = paddock("exec", sandbox, "--", "no-such-command")
    assert missing.code == 127 and "command not found" in missing.err
    assert paddock("exec", "--timeout", "1", sandbox, "--", "sleep", "1000").code == 124
    done = paddock("exec", "-w", "/tmp", "-e", "A=b c", sandbox, "--", "sh", "-c", 'echo "$PWD $A"')
    assert done.out == "/tmp b c\n"


def test_the_outcome_is_written(paddock, sandbox):
    file = paddock.base / "outcome.json"
    paddock("exec", "--outcome", file, sandbox, "--", "sh", "-c", "exit 3")
    outcome = json.loads(file.read_text())
    assert (outcome["ending"], outcome["code"]) == ("exited", 3)


def test_input_is_piped_through(paddock, sandbox):
    data = os.urandom(5_000_000)
    done = paddock("exec", "-i", sandbox, "--", "cat", stdin=data)
    assert done.ok().out_bytes == data
    # A command that ends before it has read everything is no error of ours.
    assert paddock("exec", "-i", sandbox, "--", "head", "-c1", stdin=data).ok().out_bytes == data[:1]
    # Without -i there is no input.
    assert paddock("exec", sandbox, "--", "cat", stdin=b"x").ok().out == ""


def test_signals_are_passed_on(paddock, sandbox):
    script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"
    process = paddock.start("exec", sandbox, "--", "sh", "-c", script, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == b"caught\n"
    assert process.wait(PATIENCE) == 5


def test_a_killed_client_takes_its_command_along(paddock, sandbox):
    process = paddock.start("exec", sandbox, "--", "sh", "-c", "echo on; sleep 4321", stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"on\n"
    process.kill()
    process.wait()
    look = "for p in /proc/[0-9]*; do grep -qs 432[1] $p/cmdline && echo there && exit; done; echo gone"
    for _ in range(100):
        now = paddock("exec", sandbox, "--", "sh", "-c", look).out
        if now == "gone\n":
            break
        time.sleep(0.05)
    assert now == "gone\n"


def test_a_terminal_is_given(paddock, sandbox):
    controller, terminal = pty.openpty()
    process = paddock.start("exec", "-it", sandbox, "--", "sh", stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    os.write(controller, b"test -t 0 && echo is-a-t''ty; exit 9\n")
    seen = b""
    while True:
        try:
            piece = os.read(controller, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    assert process.wait(PATIENCE) == 9
    assert b"is-a-tty" in seen
    assert paddock("exec", "-t", sandbox, "--", "true").code == 125  # stdin is no terminal


def test_files_are_copied_both_ways(paddock, sandbox):
    data = os.urandom(2_000_000)
    here = paddock.base / "a file"
    here.write_bytes(data)
    paddock("cp", here, f"{sandbox}:dir/").ok()
    assert paddock("exec", sandbox, "--", "cat", "dir/a file").ok().out_bytes == data
    back = paddock.base / "back"
    paddock("cp", f"{sandbox}:dir/a file", back).ok()
    assert back.read_bytes() == data
    assert paddock("cp", "--json", f"{sandbox}:dir/a file", paddock.home).ok().json() == {"bytes": 2_000_000}
    assert (paddock.home / "a file").read_bytes() == data
    assert list(paddock.base.glob("*.paddock-part")) == []


def test_what_cannot_be_copied_leaves_nothing(paddock, sandbox):
    gone = paddock("cp", f"{sandbox}:nowhere", paddock.base / "nowhere")
    assert gone.code == 1 and not (paddock.base / "nowhere").exists()
    tree = paddock("cp", paddock.home, f"{sandbox}:x")
    assert tree.code == 1 and "tar" in tree.err
    assert paddock("cp", "a", "b").code == 2
    assert paddock("cp", f"{sandbox}:a", f"{sandbox}:b").code == 2


def test_a_prefix_is_enough_and_must_be_one(paddock, daemon):
    one = paddock("create").ok().out.strip()
    assert paddock("exec", one[:4], "--", "true").code == 0
    assert "paddock ps" in paddock("kill", one[:3]).err
    assert "paddock ps" in paddock("kill", "zzzzzzzz").err


def test_usage_is_shown(paddock, sandbox):
    paddock("kill", sandbox).ok()
    rows = paddock("usage", "--json").ok().json()["usage"]
    assert [(row["key"], row["sandboxes"]) for row in rows] == [(None, 1)]
    assert "SANDBOXES" in paddock("usage").ok().out


def test_bytes_of_a_sandbox_do_not_steer_the_terminal(paddock, daemon):
    paddock("create", "--metadata", "k=\x1b[31mred").ok()
    assert "\x1b" not in paddock("ps").ok().out


def test_completion_knows_every_verb(paddock):
    script = paddock("completion", "bash").ok().out
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    ask = script + "\nCOMP_WORDS=(paddock {}); COMP_CWORD={}; _paddock; printf '%s\\n' \"${{COMPREPLY[@]}}\""

    def complete(*words):
        text = ask.replace("{}", " ".join(words), 1).replace("{}", str(len(words)), 1)
        text = text.replace("${{COMPREPLY[@]}}", "${COMPREPLY[@]}")
        return subprocess.run(["bash", "-c", text], capture_output=True, text=True).stdout.split()

    assert {"exec", "run", "key"} <= set(complete("''"))
    assert complete("exe") == ["exec"]
    assert {"create", "ls", "revoke"} <= set(complete("key", "''"))
    assert "--timeout" in complete("create", "--t")


@pytest.mark.parametrize("verb", ["pause", "resume", "snapshot", "fork"])
def test_what_the_daemon_cannot_do_it_says_by_name(paddock, sandbox, verb):
    """Each verb reaches its endpoint: it is done, or refused in the daemon's own words."""
    done = paddock(verb, sandbox)
    if done.code == 0:
        assert done.out.strip(), done
    else:
        assert done.code == 1 and ("not built" in done.err or "cgroup" in done.err), done
    assert paddock(verb, "zzzzzzzz").code == 1
