"""Git inside the view: repositories, linked worktrees, submodules, other owners; commits come back."""
import os
import subprocess

import pytest

from support.host import needs_root
from support.trees import digest, git, make_repository, write

AUTHOR = "git config user.name Sandy && git config user.email sandy@example.com"


def test_status_commit_and_branch_work(paddock, repo, untouched):
    done = paddock.sh(
        f"{AUTHOR} && git status --short && git checkout -q -b topic && echo more >> README.md && "
        "git add -A && git commit -q -m inside && git log --format=%s && git stash list && git gc -q && "
        "git fsck --strict"
    ).ok()
    assert done.out == "inside\nfirst\n"


def test_there_is_no_dubious_ownership(paddock, repo):
    assert "dubious" not in paddock.sh("git status").ok().err


def test_a_repository_of_another_owner_has_no_dubious_ownership(paddock, repo):
    needs_root()
    subprocess.run(["chown", "-R", "23456:23456", repo], check=True)
    done = paddock.sh(
        f"git status --short && {AUTHOR} && git commit -q --allow-empty -m x && git log --format=%s -1"
    )
    assert done.ok().out == "x\n"


def test_a_linked_worktree_commits_though_its_git_directory_lies_outside(paddock, base, repo):
    worktree = base / "home" / "linked"
    git(repo, "worktree", "add", "-q", "-b", "side", worktree)
    before = digest(repo), digest(worktree)
    done = paddock.sh(
        f"git status --short && {AUTHOR} && echo w > w.txt && git add . && git commit -q -m linked && "
        "git log --format=%s && cat .git",
        cwd=worktree,
    ).ok()
    assert done.out.startswith("linked\nfirst\n")
    assert (digest(repo), digest(worktree)) == before


def test_the_commits_of_a_linked_worktree_come_back_as_a_branch(paddock, base, repo):
    worktree = base / "home" / "linked"
    git(repo, "worktree", "add", "-q", "-b", "side", worktree)
    paddock.sh(
        f"{AUTHOR} && echo w > w.txt && git add . && git commit -q -m linked", cwd=worktree
    ).ok()
    paddock("apply", "--branch", "from-sandbox", cwd=worktree).ok()
    assert git(repo, "log", "--format=%s", "from-sandbox") == "linked\nfirst\n"
    assert git(repo, "show", "from-sandbox:w.txt") == "w\n"
    assert git(repo, "rev-parse", "side") == git(repo, "rev-parse", "main")


def test_worktrees_can_be_added_inside(paddock, repo, untouched):
    assert (
        paddock.sh(
            "git worktree add -q wt -b inside && git -C wt status --short && git worktree list | wc -l"
        )
        .ok()
        .out
        == "2\n"
    )


@pytest.fixture
def with_submodule(base, repo):
    library = make_repository(base / "home" / "library", {"lib.c": "int x;\n"})
    git(repo, "submodule", "--quiet", "add", library, "deps/lib")
    git(repo, "commit", "-q", "-m", "submodule")
    return repo


def test_submodules_work(paddock, with_submodule):
    before = digest(with_submodule)
    done = paddock.sh(
        f"git submodule status | cut -c1 && git -C deps/lib log --format=%s && cd deps/lib && {AUTHOR} && "
        "echo '// more' >> lib.c && git commit -q -a -m sub && git log --format=%s -1 && cd ../.. && "
        "git status --short"
    ).ok()
    assert done.out.splitlines() == [" ", "first", "sub", " M deps/lib"]
    assert digest(with_submodule) == before


def test_a_submodule_as_the_workspace_works(paddock, with_submodule):
    done = paddock.sh(
        f"git log --format=%s && {AUTHOR} && echo '// x' >> lib.c && git commit -q -a -m alone && "
        "git log --format=%s -1",
        cwd=with_submodule / "deps/lib",
    ).ok()
    assert done.out == "first\nalone\n"
    paddock("apply", "--branch", "sub-branch", cwd=with_submodule / "deps/lib").ok()
    assert git(with_submodule / "deps/lib", "log", "--format=%s", "sub-branch") == "alone\nfirst\n"


def test_the_index_is_not_read_again_in_full(paddock, repo):
    write(repo, {f"many/{n}.txt": f"{n}\n" for n in range(500)})
    git(repo, "add", "-A"), git(repo, "commit", "-q", "-m", "many")
    done = paddock.sh(
        "GIT_TRACE2_PERF=1 git status --short 2>&1 | grep -c . ; git diff-files --quiet && echo clean"
    )
    assert done.ok().out.endswith("clean\n")


def test_the_index_survives_many_updates(paddock, repo, untouched):
    assert (
        paddock.sh(
            "for i in $(seq 60); do echo $i > f; git add . && git restore --staged . || exit 1; done; "
            "git fsck --no-dangling && git status --short"
        )
        .ok()
        .out
        == "?? f\n"
    )


def test_commits_never_arrive_as_files_of_git(paddock, repo):
    head = git(repo, "rev-parse", "HEAD")
    paddock.sh(
        f"{AUTHOR}; echo more >> README.md; git commit -q -a -m inside; echo loose > loose.txt"
    ).ok()
    shown = paddock("diff", "--json").ok().json()
    assert not [c for c in shown["changes"] if c["path"].startswith(".git/")]
    assert any("refs" in path or "logs" in path or "config" in path for path in shown["git_paths"])
    paddock("apply").ok()
    assert git(repo, "rev-parse", "HEAD") == head
    assert (repo / "README.md").read_text() == "hello\nmore\n" and (repo / "loose.txt").exists()
    assert "Sandy" not in (repo / ".git" / "config").read_text()


def test_apply_branch_brings_the_commits_as_one_new_ref(paddock, repo):
    paddock.sh(
        f"{AUTHOR}; for i in 1 2 3; do echo $i > f$i; git add .; git commit -q -m c$i; done"
    ).ok()
    head = git(repo, "rev-parse", "HEAD")
    refs = git(repo, "for-each-ref")
    paddock("apply", "--branch", "agent/work").ok()
    assert git(repo, "log", "--format=%s", "agent/work").split() == ["c3", "c2", "c1", "first"]
    assert git(repo, "rev-parse", "HEAD") == head
    assert len(git(repo, "for-each-ref").splitlines()) == len(refs.splitlines()) + 1
    assert git(repo, "fsck", "--strict") == ""


def test_apply_branch_refuses_a_ref_that_exists_or_a_bad_name(paddock, repo):
    git(repo, "branch", "taken")
    paddock.sh(f"{AUTHOR}; git commit -q --allow-empty -m x").ok()
    taken = git(repo, "rev-parse", "taken")
    assert paddock("apply", "--branch", "taken").code != 0
    assert git(repo, "rev-parse", "taken") == taken
    for name in ("../../x", "-x", "a..b", "x.lock", ""):
        assert paddock("apply", "--branch", name).code != 0, name


def test_apply_branch_without_commits_says_so(paddock, repo):
    paddock.sh("echo x > f").ok()
    done = paddock("apply", "--branch", "nothing")
    assert done.code != 0 and "commit" in done.err
    assert "nothing" not in git(repo, "branch", "-a")


def test_a_stash_in_one_view_is_not_seen_in_another(paddock, repo, untouched):
    paddock.sh(f"{AUTHOR}; echo a >> README.md; git stash -q; git stash list | wc -l").ok()
    assert paddock.sh("git stash list").ok().out == ""


def test_a_directory_that_is_no_repository_gets_no_git_stub(paddock, base):
    plain = base / "home" / "plain"
    write(plain, {"a": "1\n"})
    paddock.sh("echo 2 > a", cwd=plain).ok()
    assert os.listdir(plain) == ["a"]
    paddock("apply", cwd=plain).ok()
    assert (plain / "a").read_text() == "2\n" and os.listdir(plain) == ["a"]


def test_a_root_owned_directory_of_repositories_is_no_obstacle(paddock, base):
    inner = make_repository(base / "home" / "many" / "one", {"x": "1\n"})
    assert paddock.sh("true", cwd=inner.parent).ok()
    assert sorted(os.listdir(inner.parent)) == ["one"]
