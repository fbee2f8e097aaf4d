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
    assert {"restart", "rollback", "rm", "template"} <= set(complete("''"))
    assert complete("template", "r") == ["rm"]


def sh(paddock, sandbox, script):
    return paddock("exec", sandbox, "--", "sh", "-c", script).ok().out


TICKER = "(exec setsid sh -c 'while :; do date +%N > new; mv new tick; sleep 0.02; done') >/dev/null 2>&1 &"


def test_a_paused_sandbox_is_shown_and_goes_on_when_it_is_resumed(paddock, sandbox):
    sh(paddock, sandbox, f"{TICKER} sleep 0.3")
    ticker = sh(paddock, sandbox, "pgrep -f '[w]hile :'").split()[0]
    before = paddock("inspect", sandbox).ok().json()
    assert paddock("pause", sandbox).ok().out == sandbox + "\n"
    shown = paddock("inspect", sandbox).ok().json()
    assert (shown["state"], shown["kept"], shown["deadline"]) == ("paused", "memory", None)
    assert shown["usage"]["user_us"] >= before["usage"]["user_us"]
    assert before["processes"] > 0 and "processes" not in shown
    row = next(line for line in paddock("ps").ok().out.splitlines() if line.startswith(sandbox))
    assert row.split()[2] == "paused"
    for words in (("exec", sandbox, "--", "true"), ("cp", f"{sandbox}:tick", "tick")):
        refused = paddock(*words)
        assert refused.code == (125 if words[0] == "exec" else 1), refused
        assert "is paused" in refused.err and f"paddock resume {sandbox}" in refused.err, refused
    again = paddock("pause", sandbox)
    assert again.code == 1 and "not running" in again.err
    assert paddock("resume", "--timeout", "1h", sandbox).ok().out == sandbox + "\n"
    assert paddock("inspect", sandbox).ok().json()["deadline"] > shown["created"]
    assert ticker in sh(paddock, sandbox, "pgrep -f '[w]hile :'").split()
    assert sh(paddock, sandbox, "a=$(cat tick); sleep 0.3; test $a != $(cat tick) && echo ticks") == "ticks\n"


def test_a_pause_of_files_lets_processes_go(paddock, sandbox):
    sh(paddock, sandbox, f"echo kept > file; {TICKER} sleep 0.1")
    before = paddock("inspect", sandbox).ok().json()["usage"]["user_us"]
    paddock("pause", "--files-only", sandbox).ok()
    shown = paddock("inspect", sandbox).ok().json()
    assert (shown["state"], shown["kept"]) == ("paused", "files")
    assert shown["usage"]["user_us"] >= before
    paddock("resume", sandbox).ok()
    assert sh(paddock, sandbox, "cat file; pgrep -f '[w]hile :' || echo none") == "kept\nnone\n"


def test_a_command_wakes_a_sandbox_that_was_made_for_it(paddock, daemon):
    made = daemon.create(timeout=60, autoPause=True, autoResume={"enabled": True})
    paddock("pause", made["sandboxID"]).ok()
    assert sh(paddock, made["sandboxID"], "echo woken") == "woken\n"


def test_sandboxes_are_made_of_a_snapshot_until_it_is_gone(paddock, sandbox):
    sh(paddock, sandbox, "echo first > file")
    snapshot = paddock("snapshot", "--name", "nightly", sandbox).ok().out.strip()
    sh(paddock, sandbox, "echo later > file")
    for name in (snapshot, "nightly"):
        made = paddock("create", "--template", name).ok().out.strip()
        assert sh(paddock, made, "cat file; echo mine > file") == "first\n"
        assert paddock("inspect", made).ok().json()["template"] == name
    assert sh(paddock, sandbox, "cat file") == "later\n"
    assert paddock("create", "--template", "weekly").code == 1
    taken = paddock("snapshot", "--name", "base", sandbox)
    assert taken.code == 2 and "built-in" in taken.err, taken


def test_forks_go_on_by_themselves(paddock, sandbox):
    sh(paddock, sandbox, "echo before > file")
    forks = paddock("fork", "--count", "2", "--timeout", "1h", sandbox).ok().out.split()
    assert len({sandbox, *forks}) == 3
    for fork in forks:
        assert sh(paddock, fork, f"cat file; echo {fork} > file") == "before\n"
    assert [sh(paddock, one, "cat file") for one in (sandbox, *forks)] == ["before\n"] + [f + "\n" for f in forks]


def test_a_restarted_sandbox_has_its_files_and_no_process(paddock, sandbox):
    sh(paddock, sandbox, f"echo kept > file; {TICKER} sleep 0.1")
    boot = sh(paddock, sandbox, "cat /proc/sys/kernel/random/boot_id")
    deadline = paddock("inspect", sandbox).ok().json()["deadline"]
    assert paddock("restart", sandbox).ok().out == sandbox + "\n"
    assert sh(paddock, sandbox, "cat file; pgrep -f '[w]hile :' || echo none") == "kept\nnone\n"
    assert sh(paddock, sandbox, "cat /proc/sys/kernel/random/boot_id") != boot
    assert paddock("inspect", sandbox).ok().json()["deadline"] == deadline
    sh(paddock, sandbox, f"{TICKER} sleep 0.1")
    paddock("pause", sandbox).ok()
    assert paddock("restart", "--timeout", "1h", "--json", sandbox).ok().json()["state"] == "running"
    assert sh(paddock, sandbox, "cat file; pgrep -f '[w]hile :' || echo none") == "kept\nnone\n"
    assert paddock("inspect", sandbox).ok().json()["deadline"] > deadline


def test_a_sandbox_is_brought_back_to_a_snapshot_and_again(paddock, sandbox):
    sh(paddock, sandbox, "echo first > file; mkdir dir")
    first = paddock("snapshot", "--name", "first", sandbox).ok().out.strip()
    sh(paddock, sandbox, f"echo second > file; rmdir dir; touch other; {TICKER} sleep 0.1")
    second = paddock("snapshot", sandbox).ok().out.strip()
    look = "cat file; ls -d dir other 2>/dev/null; pgrep -f '[w]hile :' || echo none"
    assert paddock("rollback", sandbox, "first").ok().out == sandbox + "\n"
    assert sh(paddock, sandbox, look) == "first\ndir\nnone\n"
    paddock("rollback", sandbox, second).ok()
    assert sh(paddock, sandbox, look) == "second\nother\nnone\n"
    paddock("pause", sandbox).ok()
    paddock("rollback", sandbox, first).ok()
    assert paddock("inspect", sandbox).ok().json()["state"] == "paused"
    paddock("resume", sandbox).ok()
    assert sh(paddock, sandbox, look) == "first\ndir\nnone\n"
    missing = paddock("rollback", sandbox, "third")
    assert missing.code == 1 and "paddock template ls" in missing.err, missing
    assert sh(paddock, sandbox, look) == "first\ndir\nnone\n"


def test_templates_are_listed_and_removed(paddock, sandbox):
    sh(paddock, sandbox, "echo kept > file")
    snapshot = paddock("snapshot", "--name", "nightly", sandbox).ok().out.strip()
    made = paddock("create", "--template", "nightly").ok().out.strip()
    listed = paddock("template", "ls", "--json").ok().json()["templates"]
    assert [(t["id"], t["kind"], t["name"]) for t in listed] == [
        ("base", "built-in", "base"),
        ("code-interpreter-v1", "built-in", "code-interpreter-v1"),
        (snapshot, "snapshot", "nightly"),
    ]
    assert (listed[2]["sandbox"], listed[2]["template"], listed[2]["guarantee"]) == (sandbox, "base", "quiesced")
    assert snapshot in paddock("template", "ls").ok().out
    assert paddock("template", "rm", "nightly").ok().out == "nightly\n"
    assert snapshot not in paddock("template", "ls").ok().out
    assert paddock("create", "--template", "nightly").code == 1
    assert sh(paddock, made, "cat file") == "kept\n"
    for name, code in (("base", 2), ("nightly", 1)):
        assert paddock("template", "rm", name).code == code


def test_rm_is_kill(paddock, daemon):
    ids = [paddock("create").ok().out.strip() for _ in range(2)]
    assert paddock("rm", *ids).ok().out.split() == ids
    assert paddock("ps", "--json").ok().json()["sandboxes"] == []


@pytest.mark.parametrize(
    "words", [("pause",), ("resume",), ("restart",), ("snapshot",), ("fork",), ("rollback", "name")], ids=lambda w: w[0]
)
def test_what_is_not_there_is_not_changed(paddock, daemon, words):
    missing = paddock(words[0], "zzzzzzzz", *words[1:])
    assert missing.code == 1 and "paddock ps" in missing.err, missing
