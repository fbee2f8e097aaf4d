"""Apply: three ways against the host as it is now; all or nothing; host-executable paths held back."""
import os
import signal
import stat
import subprocess
import time

import pytest

from support.program import ended
from support.trees import digest, git, make_repository, write


def test_untouched_paths_are_applied(paddock, repo):
    paddock.sh("echo more >> README.md; echo n > new; rm run.sh; chmod 755 src/main.py").ok()
    paddock("apply").ok()
    assert git(repo, "status", "--short") == " M README.md\n D run.sh\n M src/main.py\n?? new\n"


def test_dry_run_writes_nothing_and_says_what_would_be(paddock, repo):
    paddock.sh("echo more >> README.md; rm run.sh").ok()
    before = digest(repo)
    done = paddock("apply", "--dry-run").ok()
    assert "README.md" in done.out and "run.sh" in done.out
    assert digest(repo) == before
    paddock("apply").ok()


def test_the_same_change_on_both_sides_is_no_conflict(paddock, repo):
    paddock.sh("echo same > README.md; rm run.sh").ok()
    (repo / "README.md").write_text("same\n")
    (repo / "run.sh").unlink()
    paddock("apply").ok()
    assert (repo / "README.md").read_text() == "same\n"


def test_text_changed_at_different_places_is_merged(paddock, repo):
    lines = [f"line {n}\n" for n in range(40)]
    (repo / "README.md").write_text("".join(lines))
    paddock.sh("sed -i 's/^line 3$/line three/' README.md").ok()
    (repo / "README.md").write_text("".join(lines).replace("line 30\n", "line thirty\n"))
    paddock("apply").ok()
    text = (repo / "README.md").read_text()
    assert "line three\n" in text and "line thirty\n" in text


@pytest.mark.parametrize(
    "host,sandbox",
    [
        ("echo host > README.md", "echo sandbox > README.md"),
        ("rm README.md", "echo sandbox > README.md"),
        ("echo host > README.md", "rm README.md"),
        ("echo host > new", "echo sandbox > new"),
        ("rm README.md; mkdir README.md; echo x > README.md/x", "echo sandbox > README.md"),
        ("echo host > src/other.py; rm src/main.py", "rm -r src; echo file > src"),
        ("printf '\\000h' > README.md", "printf '\\000s' > README.md"),
        ("ln -sf run.sh README.md", "echo sandbox > README.md"),
        (
            "chmod 700 README.md; echo host >> README.md",
            "chmod 755 README.md; echo sandbox > README.md",
        ),
    ],
)
def test_a_conflict_writes_nothing_at_all_and_loses_nothing(paddock, repo, host, sandbox):
    view = paddock.sh(f"{sandbox}; echo unrelated > unrelated").ok().view
    time.sleep(0.02)
    subprocess.run(["sh", "-c", host], cwd=repo, check=True)
    before = digest(repo)
    done = paddock("apply")
    assert done.code == 1, done
    assert "conflict" in (done.out + done.err).lower()
    assert digest(repo) == before
    assert view in {v["id"] for v in paddock.views() if v["state"] == "ready"}
    paddock("apply", "--", "unrelated").ok()
    assert (repo / "unrelated").exists()


def test_what_the_host_changed_elsewhere_stays(paddock, repo):
    paddock.sh("echo sandbox > new").ok()
    (repo / "README.md").write_text("host\n")
    write(repo, {"host-new": "h\n"})
    paddock("apply").ok()
    assert (
        (repo / "README.md").read_text() == "host\n"
        and (repo / "host-new").exists()
        and (repo / "new").exists()
    )


def test_a_host_file_that_appears_in_a_deleted_directory_is_not_lost(paddock, repo):
    paddock.sh("rm -r src").ok()
    write(repo, {"src/late.py": "late\n"})
    done = paddock("apply")
    assert (repo / "src/late.py").read_text() == "late\n", done


def test_two_runs_and_two_applies_follow_each_other(paddock, repo):
    paddock.sh("echo one >> README.md").ok()
    paddock("apply").ok()
    paddock.sh("echo two >> README.md").ok()
    paddock("apply").ok()
    assert (repo / "README.md").read_text() == "hello\none\ntwo\n"


def test_only_the_paths_asked_for(paddock, repo):
    paddock.sh("echo a > a; mkdir d; echo b > d/b; echo c > d/c").ok()
    paddock("apply", "--", "d/b").ok()
    assert (repo / "d/b").exists() and not (repo / "a").exists() and not (repo / "d/c").exists()
    paddock("apply", "--", "d").ok()
    assert (repo / "d/c").exists() and not (repo / "a").exists()
    paddock("apply").ok()
    assert (repo / "a").exists()


def test_wrong_use_is_2(paddock):
    paddock.sh("echo a > a").ok()
    assert paddock("apply", "--no-such").code == 2
    assert paddock("apply", "--", "/etc/passwd").code == 2
    assert paddock("apply", "--", "../outside").code == 2


def test_ownership_and_modes_are_the_callers(paddock, repo):
    paddock.sh("echo a > a; chmod 6777 a; echo more >> README.md").ok()
    paddock("apply").ok()
    info = os.stat(repo / "a")
    assert (info.st_uid, info.st_gid) == (os.geteuid(), os.getegid())
    assert stat.S_IMODE(info.st_mode) & 0o6000 == 0
    assert stat.S_IMODE(os.stat(repo / "README.md").st_mode) == 0o644


def test_symlinks_planted_on_the_host_are_not_followed(paddock, repo, base):
    paddock.sh("mkdir d; echo x > d/f; echo y > src/main.py").ok()
    outside = base / "outside"
    outside.mkdir()
    (outside / "main.py").write_text("outside\n")
    (repo / "d").symlink_to(outside)
    subprocess.run(["sh", "-c", f"rm -r src && ln -s {outside} src"], cwd=repo, check=True)
    done = paddock("apply")
    assert done.code == 1, done
    assert (
        sorted(os.listdir(outside)) == ["main.py"]
        and (outside / "main.py").read_text() == "outside\n"
    )


def test_symlinks_planted_in_the_view_are_not_followed(paddock, repo, base):
    secret = base / "secret"
    secret.write_text("secret\n")
    paddock.sh(f"ln -s {secret} leak; ln -s {base} dir; rm -r src; ln -s {base} src").ok()
    assert "secret\n" not in paddock("diff", "--patch").ok().out.replace(str(secret), "")
    paddock("apply").ok()
    assert not os.path.lexists(repo / "leak"), "a link out of the workspace is held back"
    paddock("apply", "--allow-host-exec").ok()
    assert os.readlink(repo / "leak") == str(secret) and secret.read_text() == "secret\n"


# Paths that would execute on the host

HELD = {
    ".git/hooks/pre-commit": None,
    ".husky/pre-commit": 1,
    ".github/workflows/ci.yml": 1,
    ".gitlab-ci.yml": 1,
    "paddock.toml": 1,
    ".envrc": 1,
    ".vscode/tasks.json": 1,
    ".idea/workspace.xml": 1,
    ".pre-commit-config.yaml": 1,
    ".gitattributes": 1,
    ".claude/settings.json": 1,
    ".mcp.json": 1,
    "sub/.envrc": 1,
    "sub/.vscode/settings.json": 1,
    ".gitmodules": 1,
    ".GitHub/Workflows/x.yml": 1,
    ".EnvRC": 1,
    ".devcontainer/devcontainer.json": 1,
    "Jenkinsfile": 1,
}


@pytest.mark.parametrize("path", [p for p, held in HELD.items() if held])
def test_a_host_executable_path_is_held_back_until_allowed(paddock, repo, path):
    done = paddock.sh(f"mkdir -p $(dirname {path}); echo '*' > {path}; echo x > plain").ok()
    assert done.report["changes"]["held"] >= 1
    change = next(c for c in paddock("diff", "--json").ok().json()["changes"] if c["path"] == path)
    assert change["held_reason"]
    applied = paddock("apply").ok()
    assert path in applied.out + applied.err
    assert (repo / "plain").exists() and not (repo / path).exists()
    assert paddock("apply", "--strict").code == 3
    paddock("apply", "--allow-host-exec").ok()
    assert (repo / path).exists()


def test_a_hook_planted_in_the_view_never_arrives(paddock, repo, base):
    marker = base / "marker"
    paddock.sh(
        f"printf '#!/bin/sh\\ntouch {marker}\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
        "git config core.fsmonitor 'touch x'; echo x > plain"
    ).ok()
    applied = paddock("apply").ok()
    assert ".git/hooks/pre-commit" in applied.out + applied.err
    paddock("apply", "--allow-host-exec")
    assert not (repo / ".git/hooks/pre-commit").exists()
    git(repo, "add", "-A"), git(repo, "commit", "-q", "-m", "x")
    assert not marker.exists() and "fsmonitor" not in (repo / ".git/config").read_text()


def test_nested_repositories_in_the_view_are_held_or_kept_out(paddock, repo):
    paddock.sh(
        "mkdir n && cd n && git init -q && printf '#!/bin/sh\\n' > .git/hooks/post-checkout && echo x > f"
    ).ok()
    paddock("apply").ok()
    assert not (repo / "n/.git/hooks/post-checkout").exists()


def test_policy_adds_paths_to_hold_back(paddock, repo):
    (repo / "paddock.toml").write_text('[apply]\nhost_exec = ["*.mk"]\n')
    paddock.sh("echo x > build.mk; echo y > plain").ok()
    paddock("apply").ok()
    assert not (repo / "build.mk").exists() and (repo / "plain").exists()


# Interrupted


def test_an_apply_killed_at_random_moments_is_finished_or_undone_by_the_next_command(paddock, repo):
    write(repo, {f"many/{n}": f"old {n}\n" for n in range(300)})
    old = {n: f"old {n}\n" for n in range(300)}
    for attempt in range(8):
        view = paddock.sh(f"for f in many/*; do echo new {attempt} > $f; done").ok().view
        process = paddock.start("apply", view)
        time.sleep(0.004 * (attempt * 4 + 1))
        process.send_signal(signal.SIGKILL)
        ended(process)
        paddock("ls").ok()
        now = {n: (repo / f"many/{n}").read_text() for n in range(300)}
        new = {n: f"new {attempt}\n" for n in range(300)}
        assert now in (old, new), "a mix was left"
        leftovers = {p.name for p in repo.iterdir()} - {
            "README.md",
            "src",
            "run.sh",
            ".git",
            "many",
        }
        assert not leftovers and len(os.listdir(repo / "many")) == 300
        old = now


def test_apply_beside_a_running_editor_loses_no_write(paddock, repo):
    paddock.sh("echo sandbox > README.md").ok()
    process = subprocess.Popen(
        [
            "sh",
            "-c",
            "for i in $(seq 2000); do echo host$i > README.md.tmp; mv README.md.tmp README.md; done",
        ],
        cwd=repo,
    )
    done = paddock("apply")
    process.wait()
    assert (repo / "README.md").read_text() == "host2000\n" or done.code == 0
    assert done.code in (0, 1)


def test_apply_into_a_read_only_directory_fails_as_a_whole(paddock, repo):
    paddock.sh("echo x > src/new; echo y > top").ok()
    if os.geteuid() == 0:
        subprocess.run(["chattr", "+i", repo / "src"], check=True)
    else:
        (repo / "src").chmod(0o555)
    try:
        done = paddock("apply")
        assert done.code not in (0, 2) and "src" in done.err
        assert not (repo / "top").exists() and not (repo / "src/new").exists()
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", repo / "src"], check=True)
        (repo / "src").chmod(0o755)


def test_two_workspaces_are_independent(paddock, base, repo):
    other = make_repository(base / "home" / "other", {"a": "1\n"})
    paddock.sh("echo 1 > x").ok(), paddock.sh("echo 2 > x", cwd=other).ok()
    paddock("apply").ok()
    assert (repo / "x").read_text() == "1\n" and not (other / "x").exists()
