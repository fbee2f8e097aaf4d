"""`paddock run`: status, streams, environment, outcome."""
import os
import signal
import subprocess
import time


from support.program import ended


def test_exit_status_is_the_commands(paddock):
    for status in (0, 1, 3, 77, 124, 255):
        assert paddock.sh(f"exit {status}").code == status


def test_twenty_fast_exits_are_each_reported(paddock):
    # A reaper that waits for any child steals the status of a command now and then.
    done = paddock.sh("for i in $(seq 300); do (exit 7); [ $? = 7 ] || echo lost $i; done").ok()
    assert done.out == ""
    assert {paddock.sh("exit 7").code for _ in range(20)} == {7}


def test_death_by_signal_is_128_plus_its_number(paddock):
    for name in ("KILL", "TERM", "SEGV", "ABRT"):
        done = paddock.sh(f"kill -{name} $$")
        number = getattr(signal, f"SIG{name}")
        assert done.code == 128 + number
        assert done.outcome["ending"] == "signalled" and done.outcome["code"] == number


def test_a_command_that_is_not_there_is_127(paddock):
    done = paddock.run("no-such-program")
    assert done.code == 127
    assert "no-such-program" in done.err


def test_a_file_that_cannot_be_executed_is_126(paddock):
    assert paddock.run("./README.md").code == 126
    assert paddock.run("/etc").code == 126


def test_a_command_may_be_a_path_relative_to_the_directory(paddock):
    assert paddock.run("./run.sh").ok().out == ""


def test_wrong_use_is_125_and_says_how(paddock):
    assert paddock("run").code == 125
    done = paddock("run", "--no-such-option", "--", "true")
    assert done.code == 125
    assert "--no-such-option" in done.err


def test_stdout_and_stderr_stay_apart(paddock):
    done = paddock.sh("echo out; echo err >&2", "-q").ok()
    assert (done.out, done.err) == ("out\n", "err\n")


def test_bytes_pass_unchanged_both_ways(paddock):
    blob = os.urandom(3 << 20) + "café☕".encode()
    assert paddock.run("cat", stdin=blob, options=["-q"]).ok().out_bytes == blob


def test_multibyte_text_split_between_writes_arrives_whole(paddock):
    done = paddock.sh(
        r"printf 'caf\303'; sleep 0.05; printf '\251\342'; sleep 0.05; printf '\230\225'"
    )
    assert done.ok().out_bytes == "café☕".encode()


def test_end_of_file_on_stdin_arrives(paddock):
    assert paddock.run("cat").ok().out == ""
    assert paddock.run("wc", "-c", stdin=b"12345").ok().out.strip() == "5"


def test_an_open_stdin_of_the_caller_hangs_nothing(paddock):
    keep_open, write_end = os.pipe()
    process = paddock.start(
        "run", "-q", "--", "echo", "hi", stdin=keep_open, stdout=subprocess.PIPE
    )
    out, _ = process.communicate(timeout=60)
    os.close(keep_open), os.close(write_end)
    assert (process.returncode, out) == (0, b"hi\n")


def test_a_caller_that_reads_no_more_ends_the_command(paddock):
    process = paddock.start("run", "-q", "--", "yes", stdout=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    assert ended(process) != 0


def test_a_slow_reader_loses_nothing(paddock):
    process = paddock.start("run", "-q", "--", "sh", "-c", "seq 200000", stdout=subprocess.PIPE)
    time.sleep(0.5)
    out = process.stdout.read()
    assert ended(process) == 0
    assert out.split()[-1] == b"200000" and len(out.split()) == 200000


def test_a_background_child_that_holds_stdout_does_not_hang_the_run(paddock):
    done = paddock.sh("(sleep 600 &) ; echo done")
    assert (done.ok().out, done.outcome["ending"]) == ("done\n", "exited")


def test_a_daemon_that_left_the_session_does_not_hang_the_run(paddock):
    assert paddock.guest("escape_tree", "600").ok().outcome["ending"] == "exited"


def test_output_of_children_before_the_end_is_complete(paddock):
    done = paddock.sh("seq 1000 & wait; echo last").ok()
    assert done.out.split()[-2:] == ["1000", "last"]


def test_quiet_keeps_paddocks_own_lines_off_stderr(paddock):
    assert paddock.sh("true", "-q").ok().err == ""
    assert "policy" in paddock.sh("true").ok().err


def test_nothing_of_the_callers_environment_is_inherited(paddock):
    done = paddock.run(
        "env", env={"AWS_SECRET_ACCESS_KEY": "s3cret", "LD_PRELOAD_X": "x", "SSH_AUTH_SOCK": "/x"}
    )
    assert "s3cret" not in done.ok().out
    names = {line.split("=")[0] for line in done.out.splitlines()}
    assert "SSH_AUTH_SOCK" not in names and "LD_PRELOAD_X" not in names
    assert {"PATH", "HOME", "TERM", "LANG"} <= names


def test_terminal_and_locale_pass(paddock):
    done = paddock.run(
        "env",
        env={
            "TERM": "xterm-256color",
            "LANG": "de_DE.UTF-8",
            "LC_ALL": "C.UTF-8",
            "COLORTERM": "truecolor",
            "TZ": "Europe/Berlin",
        },
    ).ok()
    assert "TERM=xterm-256color\n" in done.out and "LC_ALL=C.UTF-8\n" in done.out
    assert "LANG=de_DE.UTF-8\n" in done.out


def test_env_sets_and_pass_env_copies(paddock):
    done = paddock.run(
        "sh",
        "-c",
        "echo $A,$B,$C",
        options=["--env", "A=1=2", "--pass-env", "B"],
        env={"B": "from outside", "C": "not passed"},
    )
    assert done.ok().out == "1=2,from outside,\n"


def test_env_without_a_value_is_refused(paddock):
    assert paddock.sh("true", "--env", "NOVALUE").code == 125


def test_outcome_is_complete_json(paddock, base):
    done = paddock.sh("echo hello; echo error >&2; exit 4")
    assert done.report["format"] == 1
    assert (
        done.outcome["ending"] == "exited"
        and done.outcome["code"] == 4
        and done.outcome["exit_status"] == 4
    )
    usage = done.outcome["usage"]
    assert usage["stdout_bytes"] == 6 and usage["stderr_bytes"] == 6
    assert usage["wall_us"] > 0 and usage["peak_memory_bytes"] > 0
    assert done.denials == [] and done.outcome["denials_dropped"] == 0
    assert done.decision["level"] == "container" and done.decision["root_template"] == "host"
    assert {c["state"] for c in done.decision["controls"]} <= {
        "enforced",
        "approximated",
        "refused",
    }


def test_outcome_is_written_when_paddock_itself_fails(paddock):
    done = paddock.sh("true", "--trust", "hostile")
    assert done.code == 125
    assert done.outcome["ending"] == "setup_failed" and done.outcome["exit_status"] == 125
    assert done.outcome["reason"]


def test_an_outcome_file_that_cannot_be_written_is_said_before_the_command_runs(paddock, repo):
    done = paddock("run", "--outcome", "/nonexistent/outcome.json", "--", "sh", "-c", "echo ran")
    assert done.code == 125 and done.out == ""
    assert "/nonexistent/outcome.json" in done.err


def test_usage_counts_the_whole_tree(paddock):
    done = paddock.sh("python3 -c 'sum(i for i in range(3000000))' & wait").ok()
    assert done.outcome["usage"]["user_us"] > 20000


def test_a_signal_to_paddock_ends_the_command_and_cleans_up(paddock):
    # Not by a shell: dash loses a SIGINT that comes while it forks, outside a sandbox as well.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = paddock.start(
            "run", "-q", "--", "cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        process.stdin.write(b"up\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        assert ended(process) == 128 + number
        process.stdin.close()
        process.stdout.close()


def test_the_directory_of_the_caller_is_the_commands(paddock, repo):
    assert (
        paddock.run("pwd", cwd=repo / "src", options=["--workspace", repo]).ok().out
        == f"{repo}/src\n"
    )
    assert paddock.run("pwd").ok().out == f"{repo}\n"


def test_many_runs_at_once_do_not_disturb_each_other(paddock):
    running = [
        paddock.start("run", "-q", "--", "sh", "-c", f"echo {n}; exit {n}", stdout=subprocess.PIPE)
        for n in range(12)
    ]
    assert [ended(process) for process in running] == list(range(12))
    assert [process.stdout.read() for process in running] == [f"{n}\n".encode() for n in range(12)]
    for process in running:
        process.stdout.close()


def test_help_and_version_need_nothing(paddock):
    done = paddock("--help").ok()
    for verb in (
        "run",
        "diff",
        "apply",
        "ls",
        "show",
        "discard",
        "rollback",
        "gc",
        "init",
        "policy",
        "doctor",
    ):
        assert verb in done.out
    assert paddock("--version").ok().out.startswith("paddock ")
    for verb in ("run", "diff", "apply"):
        assert paddock(verb, "--help").ok().out


def test_arguments_reach_the_command_byte_for_byte(paddock):
    odd = ["", " ", "a b", "'\"$`\\", "new\nline", "-x", "--", "é"]
    done = paddock.run("sh", "-c", 'for a; do printf "%s\\0" "$a"; done', "sh", *odd).ok()
    assert done.out_bytes.split(b"\0")[:-1] == [a.encode() for a in odd]


def test_outcome_without_a_view_names_none(paddock):
    assert paddock.sh("true").ok().report["view"] is None
    assert paddock.sh("true").report["changes"] is None
