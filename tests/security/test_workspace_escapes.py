"""Where agents really escape: planted links, hooks, names, absent protected files, crafted trees."""
import os
import subprocess
import time

import pytest

from support.program import GUESTS, PADDOCK
from support.trees import digest, git, write
from support.twins import outside


def test_a_protected_file_that_did_not_exist_is_still_protected(paddock, repo, base):
    """Made inside, executed outside at the next start: held back though there was nothing to guard."""
    marker = base / "marker"
    write_hook = f"printf '#!/bin/sh\\ntouch {marker}\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
    paddock.sh(
        write_hook
        + f"mkdir -p .husky; cp .git/hooks/pre-commit .husky/; printf 'touch {marker}' > .envrc; echo x > f"
    ).ok()
    assert (
        not (repo / ".git/hooks/pre-commit").exists() and not (repo / ".envrc").exists()
    ), "a stub or the file itself"
    paddock("apply").ok()
    git(repo, "add", "-A"), git(repo, "commit", "-q", "-m", "host")
    assert not marker.exists() and not (repo / ".husky").exists() and not (repo / ".envrc").exists()
    # The twin: with the workspace given directly, the hook is there and runs.
    paddock.sh(write_hook, "--mode", "direct").ok()
    git(repo, "commit", "-q", "--allow-empty", "-m", "twin")
    assert marker.exists()


@pytest.mark.parametrize(
    "verb", [("diff",), ("diff", "--patch"), ("diff", "--json"), ("apply",), ("apply", "--dry-run")]
)
def test_a_link_planted_inside_is_not_followed_by_any_host_side_verb(paddock, base, verb):
    paddock.sh(
        f"ln -s {base}/home/.ssh keys; ln -s {base}/home/.ssh/id_ed25519 key; rm README.md; "
        f"ln -s {base}/home/.ssh/id_ed25519 README.md"
    ).ok()
    done = paddock(*verb)
    assert "PRIVATE KEY" not in done.out + done.err
    assert "PRIVATE KEY" in (base / "home/.ssh/id_ed25519").read_text()


def test_a_link_planted_inside_is_not_followed_by_the_next_run(paddock, base):
    view = paddock.sh(f"rm -r src; ln -s {base}/home/.ssh src; ln -s {base}/home .git/x").ok().view
    done = paddock.sh("cat src/id_ed25519; ls src/", "--continue", view)
    assert done.code != 0 and "PRIVATE" not in done.out


@pytest.mark.parametrize(
    "how",
    [
        "echo x > {0}/out",
        "echo x | tee {0}/out",
        "python3 -c \"open('{0}/out', 'w')\"",
        "dd if=/dev/zero of={0}/out count=1",
        "ln README.md {0}/out",
        "cp README.md {0}/out",
        "mkdir {0}/out",
        "mv README.md {0}/out",
        "tar cf - README.md | tar xf - -C {0}",
        "git clone -q . {0}/out",
        "install README.md {0}/out",
    ],
)
def test_writing_outside_the_workspace_never_reaches_the_host(paddock, base, how):
    before = digest(base / "home" / ".ssh"), sorted(os.listdir(base / "home"))
    paddock.sh(how.format(base / "home"))
    assert (digest(base / "home" / ".ssh"), sorted(os.listdir(base / "home"))) == before


@pytest.mark.parametrize(
    "alias",
    [".env", "./.env", "src/../.env", ".//.env", "/proc/self/cwd/.env", "link/.env", "{abs}/.env"],
)
def test_no_alias_of_a_hidden_file_shows_it(paddock, repo, alias):
    write(repo, {".env": "HIDDEN SECRET\n"})
    done = paddock.sh(
        f"ln -s . link; cat {alias.format(abs=repo)}; mv .env x; cat x; ln .env y; cat y; cp -a . /tmp/copy; cat /tmp/copy/.env; "
        "python3 -c \"import os; print(os.listdir('.'))\"; grep -r HIDDEN . /tmp 2>/dev/null; true"
    )
    assert "HIDDEN SECRET" not in done.out
    assert "HIDDEN SECRET" in outside("cat", repo / ".env").stdout


def test_a_hidden_file_is_not_in_diff_patch_or_store(paddock, repo):
    write(repo, {".env": "HIDDEN SECRET\n", "d/.env": "HIDDEN SECRET\n"})
    paddock.sh("rm -rf d; mkdir d; echo mine > d/.env; mv src d2; echo x > f").ok()
    for args in (
        ("diff", "--patch"),
        ("diff", "--json"),
        ("show", "--json"),
        ("apply", "--dry-run"),
    ):
        assert "HIDDEN SECRET" not in paddock(*args).out
    found = subprocess.run(
        ["grep", "-rl", "HIDDEN SECRET", paddock.state], capture_output=True, text=True
    ).stdout
    assert found == "", found
    paddock("apply")
    assert (
        repo / "d/.env"
    ).read_text() == "HIDDEN SECRET\n", "the host's secret was removed or replaced"


@pytest.mark.parametrize(
    "path",
    [
        ".Git/HOOKS/pre-commit",
        ".GIT/config",
        ".Claude/settings.json",
        ".VSCODE/tasks.json",
        ".envRC",
        ".git./hooks/x",
        "sub/.GIT/hooks/pre-push",
        ".gitATTRIBUTES",
        ".github/WORKFLOWS/x.yml",
    ],
)
def test_case_variants_of_held_paths_are_held(paddock, repo, path):
    paddock.sh(f"mkdir -p $(dirname {path}); echo evil > {path}; echo x > plain").ok()
    paddock("apply").ok()
    assert (repo / "plain").exists() and not os.path.lexists(repo / path)


STEERED_GIT = [
    "git config core.fsmonitor 'touch {m}'",
    "git config core.hooksPath {w}/hooks",
    "git config core.sshCommand 'touch {m}'",
    "git config filter.x.clean 'touch {m}'; git config filter.x.smudge 'touch {m}'; echo '* filter=x' > .git/info/attributes",
    "git config include.path {w}/evil.cfg",
    "git config diff.external 'touch {m}'",
    "git config core.pager 'touch {m}'",
    "git config alias.status '!touch {m}'",
    "git config gpg.program {w}/evil; git config commit.gpgsign true",
    "printf '#!/bin/sh\\ntouch {m}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/*",
    "git config core.editor 'touch {m}'",
]


@pytest.mark.parametrize("steer", STEERED_GIT)
def test_git_config_made_inside_never_steers_git_outside(paddock, repo, base, steer):
    marker, config = base / "marker", (repo / ".git/config").read_bytes()
    paddock.sh(
        steer.format(m=marker, w=repo)
        + "; git config user.name s; git config user.email s@example.com; echo x > f; "
        "git -c core.fsmonitor= -c commit.gpgsign=false -c core.hooksPath=/dev/null add f; "
        "git -c core.fsmonitor= -c commit.gpgsign=false -c core.hooksPath=/dev/null commit -q -m c"
    ).ok()
    paddock("diff", "--patch").ok(), paddock("apply").ok(), paddock("apply", "--branch", "b")
    for command in ("status", "log", "diff", "branch"):
        subprocess.run(["git", command], cwd=repo, capture_output=True, stdin=subprocess.DEVNULL)
    assert not marker.exists() and (repo / ".git/config").read_bytes() == config


def test_objects_brought_by_a_branch_are_checked(paddock, repo):
    script = (
        "git config user.name s; git config user.email s@example.com; "
        "blob=$(echo evil | git hash-object -w --stdin); "
        "tree=$(printf '100755 .git\\0' > /tmp/t; printf \"$(echo $blob | sed 's/../\\\\x&/g')\" >> /tmp/t; git hash-object -t tree -w --literally /tmp/t); "
        "commit=$(git commit-tree -p HEAD -m evil $tree); git update-ref refs/heads/main $commit; echo x > f"
    )
    done = paddock.run("bash", "-c", script)
    assert done.code == 0, done
    brought = paddock("apply", "--branch", "evil")
    assert brought.code != 0, "a tree that holds .git came in"
    assert "evil" not in git(repo, "branch", "-a")


def test_setuid_devices_and_fifos_never_arrive(paddock, repo):
    paddock.sh(
        "cp /bin/true suid; chmod 6755 suid; mkfifo fifo; mknod dev c 1 3 2>/dev/null; mknod white c 0 0 2>/dev/null; echo x > f; true"
    ).ok()
    paddock("apply").ok()
    assert (repo / "suid").stat().st_mode & 0o7000 == 0
    assert (
        not os.path.lexists(repo / "fifo")
        and not os.path.lexists(repo / "dev")
        and not os.path.lexists(repo / "white")
    )


def test_hard_links_to_host_files_cannot_be_made(paddock, base):
    before = (base / "home/.ssh/id_ed25519").stat()
    paddock.sh(f"ln {base}/home/.ssh/id_ed25519 k; ln /etc/passwd p; echo x >> p; chmod 777 p; ls")
    assert (base / "home/.ssh/id_ed25519").stat() == before
    paddock("apply")
    assert os.stat("/etc/passwd").st_mode & 0o777 == 0o644


def test_crafted_overlay_attributes_show_no_host_file(paddock, repo):
    """A lower that carries overlay xattrs (redirect, metacopy, origin) from the repository's author."""
    write(repo, {"lure/x": "1\n", "file": "2\n"})
    for name in (
        "user.overlay.redirect",
        "user.overlay.metacopy",
        "user.overlay.opaque",
        "user.overlay.origin",
    ):
        try:
            os.setxattr(repo / "lure", name, b"/../../../../etc")
            os.setxattr(repo / "file", name, b"/../../../../etc/shadow")
        except OSError:
            pytest.skip("needs user-xattrs: the file system of the workspace has none")
    done = paddock.sh("ls lure; cat lure/shadow file lure/passwd; true")
    assert "root:" not in done.out
    attributes = paddock.run(
        "python3",
        "-c",
        "import os\nfor a in ('user.overlay.redirect', 'user.overlay.opaque', 'trusted.overlay.opaque'):\n"
        "  try: os.mkdir('m'); \n  except OSError: pass\n  try: os.setxattr('m', a, b'/../../etc'); print('set', a)\n  except OSError: pass",
    )
    paddock("diff"), paddock("apply")
    assert "root:" not in (attributes.out + paddock("diff", "--patch").out)


def test_mid_run_loss_of_the_sandbox_never_runs_the_command_outside(paddock, base):
    """No fallback: where namespaces cannot be had the command does not run at all."""
    marker = base / "marker"
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    done = subprocess.run(
        [
            "unshare",
            "-Ur",
            "sh",
            "-c",
            script,
            "sh",
            *paddock.argv("run", "--", "touch", str(marker)),
        ],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 125 and not marker.exists() and done.stderr, done


def test_no_agent_program_means_no_run(paddock, base):
    alone = base / "alone"
    alone.mkdir()
    subprocess.run(["cp", PADDOCK, alone], check=True)
    done = subprocess.run(
        [alone / "paddock", "run", "--", "touch", base / "marker"],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (
        done.returncode == 125 and "paddock-agent" in done.stderr and not (base / "marker").exists()
    )


def test_a_foreign_agent_is_refused_by_its_build_id(paddock, base):
    other = base / "other"
    other.mkdir()
    subprocess.run(["cp", PADDOCK, other], check=True)
    subprocess.run(["cp", GUESTS / "fds", other / "paddock-agent"], check=True)
    done = subprocess.run(
        [other / "paddock", "run", "--timeout", "20", "--", "touch", base / "marker"],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert (
        done.returncode == 125 and not (base / "marker").exists() and "agent" in done.stderr
    ), done


@pytest.mark.parametrize(
    "bad", ["../x", "a/b", "..", "/etc", "x" * 5000, "aaaa\nbbbb", "%s", "$(id)"]
)
def test_ids_are_rejected_by_their_characters(paddock, bad):
    for verb in (
        ("diff", bad),
        ("apply", bad),
        ("discard", bad),
        ("rollback", bad),
        ("show", bad),
        ("run", "--continue", bad, "--", "true"),
    ):
        done = paddock(*verb)
        assert done.code != 0 and done.out == "", (verb, done)


def test_a_root_with_planted_links_mounts_nothing_outside(paddock, base):
    """maskedPaths and /dev/console bugs of runtimes: the root's own /dev, /proc, /tmp are links."""
    root, target = base / "root", base / "target"
    (root / "bin").mkdir(parents=True)
    target.mkdir()
    busybox = "/bin/busybox" if os.path.exists("/bin/busybox") else "/usr/bin/busybox"
    subprocess.run(["cp", busybox, root / "bin/busybox"], check=True)
    for name in ("dev", "proc", "sys", "tmp", "etc", "home", "run"):
        (root / name).symlink_to(target)
    before = digest(target)
    done = paddock.run(
        "/bin/busybox", "sh", "-c", "echo x > /tmp/x; echo x > /dev/y", options=["--rootfs", root]
    )
    assert digest(target) == before and os.listdir(target) == []
    assert done.code in (0, 1, 2, 125)


def test_a_race_on_the_workspace_during_start_shows_nothing_else(paddock, base, repo):
    """Another process exchanges the workspace with a link to a secret folder while sandboxes start."""
    swap = subprocess.Popen(
        [
            "sh",
            "-c",
            f"while :; do mv {repo} {repo}.real; ln -s {base}/home/.ssh {repo}; rm {repo}; mv {repo}.real {repo}; done",
        ]
    )
    try:
        for _ in range(15):
            done = paddock.sh("cat id_ed25519 2>/dev/null; ls", "--workspace", repo, cwd="/")
            assert "PRIVATE KEY" not in done.out, done
    finally:
        swap.kill(), swap.wait()
        time.sleep(0.1)
        if (base / "home/project.real").exists():
            if repo.is_symlink():
                repo.unlink()
            (base / "home/project.real").rename(repo)
