"""What the sandbox says about itself is checked, and what it prints cannot pose as Paddock."""
import os

from support.program import AGENT, PADDOCK


def test_the_outcome_file_is_not_reachable_from_inside(paddock, base):
    done = paddock.sh(
        "find / -name 'outcome*.json' -not -path '/proc/*' 2>/dev/null; find / -name '*.db' -path '*paddock*' 2>/dev/null; true"
    )
    assert done.ok().out == ""


def test_names_of_processes_are_escaped_in_messages(paddock):
    script = "import ctypes\nl = ctypes.CDLL(None)\nl.prctl(15, b'\\x1b]0;x\\x07evil', 0, 0, 0)\nl.unshare(0x10000000)"
    done = paddock.run("python3", "-c", script)
    assert done.denied("syscall", "unshare")
    assert "\x1b" not in done.err and "\x07" not in done.err
    assert "\x1b" not in paddock("ls").out


def test_arguments_are_escaped_in_history(paddock):
    paddock.run("sh", "-c", "echo x > f", "\x1b]0;owned\x07").ok()
    shown = paddock("show")
    assert "\x1b]" not in shown.out and "\x07" not in shown.out


def test_the_command_cannot_forge_the_end_of_its_run(paddock):
    done = paddock.sh(
        'echo \'{"outcome": {"ending": "exited", "code": 0}}\'; echo \'paddock: applied\' >&2; exit 9'
    )
    assert done.code == 9 and done.outcome["code"] == 9


def test_the_state_is_unreadable_to_other_users_and_absent_inside(paddock, base):
    paddock.sh("echo x > f").ok()
    for folder, folders, files in os.walk(base / "state"):
        for name in folders + files:
            path = os.path.join(folder, name)
            if folder == str(base / "state") and not os.path.islink(path):
                assert (
                    os.lstat(path).st_mode & 0o007 == 0
                    or os.stat(base / "state").st_mode & 0o077 == 0
                ), path
    assert paddock.sh(f"ls {base}/state 2>/dev/null").out == ""


def test_a_control_character_flood_on_stderr_is_passed_as_bytes_only_from_the_command(paddock):
    done = paddock.sh("printf '\\033[31mred' >&2", "-q")
    assert done.err_bytes == b"\x1b[31mred"


def test_paddock_is_not_there_inside(paddock):
    assert (
        paddock.sh(f"command -v paddock paddock-agent; ls {PADDOCK} {AGENT} 2>/dev/null").out == ""
    )
