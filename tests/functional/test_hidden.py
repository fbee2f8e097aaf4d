"""Secrets of the workspace are hidden by pattern, without a stub on the host."""
import json
import os
import subprocess
import time

from support.program import ended
from support.trees import digest, write

SECRETS = {
    ".env": "TOKEN=1\n",
    "deep/er/.env.production": "TOKEN=2\n",
    "certs/server.key": "KEY\n",
    "id_rsa": "PRIVATE\n",
    ".npmrc": "//x/:_authToken=3\n",
}


def test_secrets_are_hidden_without_a_stub_on_the_host(paddock, repo):
    write(repo, {**SECRETS, ".env.example": "TOKEN=\n"})
    before = digest(repo)
    done = paddock.sh(
        "find . -name '.env*' -o -name '*.key' -o -name id_rsa -o -name .npmrc | sort"
    )
    assert done.ok().out == "./.env.example\n"
    assert digest(repo) == before
    assert {".env", "deep/er/.env.production", "certs/server.key", "id_rsa", ".npmrc"} <= set(
        paddock.sh("true").ok().decision["hidden"]
    )


def test_a_secret_does_not_exist_for_stat_open_or_link(paddock, repo):
    write(repo, SECRETS)
    done = paddock.sh(
        "for f in .env deep/er/.env.production certs/server.key; do "
        "test -e $f && echo stat $f; cat $f 2>/dev/null; ln $f /tmp/x 2>/dev/null && echo linked; done; true"
    )
    assert done.ok().out == ""


def test_a_secret_directory_keeps_mode_owner_and_times(paddock, repo):
    write(repo, {"private/.env": "T\n", "private/other": "o\n"})
    (repo / "private").chmod(0o700)
    os.utime(repo / "private", (1_000_000_000, 1_000_000_000))
    assert (
        paddock.sh("stat -c '%a %Y' private; ls -A private").ok().out == "700 1000000000\nother\n"
    )


def test_policy_adds_and_removes_hidden_patterns(paddock, repo):
    write(repo, {**SECRETS, "notes.secret": "s\n"})
    (repo / "paddock.toml").write_text('[files]\nhide = ["*.secret"]\n')
    done = paddock.sh("ls -A").ok()
    assert "notes.secret" not in done.out.split()
    assert ".env" not in done.out.split(), "a project file can only narrow"


def test_a_matching_file_that_appears_while_running_is_hidden_or_said_to_be_seen(paddock, repo):
    process = paddock.start(
        "run",
        "-q",
        "--outcome",
        paddock.base / "late.json",
        "--",
        "sh",
        "-c",
        "echo up; for i in $(seq 100); do test -e go && break; sleep 0.05; done; cat late.key",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout.readline() == b"up\n"
    (repo / "late.key").write_text("LATE SECRET\n")
    time.sleep(0.3)
    (repo / "go").write_text("")
    out = process.stdout.read()
    ended(process)
    process.stdout.close()
    controls = json.loads((paddock.base / "late.json").read_text())["decision"]["controls"]
    hide = next(c["state"] for c in controls if c["name"] == "files.hide")
    assert b"LATE SECRET" not in out or hide == "approximated"


def test_a_new_matching_file_on_the_host_is_hidden_in_the_next_run(paddock, repo):
    write(repo, {"a/b/c/x": "1\n"})
    paddock.sh("true").ok()
    write(repo, {"a/b/c/.env": "NEW\n"})
    assert paddock.sh("ls -A a/b/c").ok().out == "x\n"
    os.unlink(repo / "a/b/c/.env")
    os.rename(repo / "a", repo / "z")
    write(repo, {"z/b/.env": "MOVED\n"})
    assert paddock.sh("ls -A z/b").ok().out == "c\n"


def test_a_file_the_sandbox_makes_under_a_secret_name_is_its_own(paddock, repo):
    write(repo, {".env": "HOST=1\n"})
    done = paddock.sh("echo SANDBOX=1 > .env; cat .env").ok()
    assert done.out == "SANDBOX=1\n"
    shown = paddock("diff", "--patch").ok().out
    assert "HOST=1" not in shown
    applied = paddock("apply")
    assert (repo / ".env").read_text() == "HOST=1\n", "the host's secret was overwritten"
    assert applied.code == 1 or ".env" in applied.out + applied.err


def test_hiding_reads_only_what_changed(paddock, repo):
    for number in range(300):
        write(repo, {f"d{number}/file": "x\n"})
    write(repo, {"d7/.env": "S\n"})
    for _ in range(3):
        assert paddock.sh("find . -name .env").ok().out == ""
    write(repo, {"d9/.env": "S\n"})
    assert paddock.sh("find . -name .env").ok().out == ""
