"""A view made, changed in 10 files, diffed and discarded; against worktrees and copies."""
import os
import shutil
import subprocess

from .measure import Command, Row, in_turn

DIRECTORIES, ROUNDS = 1000, 9
GIT = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
CHANGE = "for i in 1 2 3 4 5 6 7 8 9 10; do echo changed > d$i/f0; done"
SAME_WORK = "mkdir /tmp/w; cd /tmp/w; for i in 1 2 3 4 5 6 7 8 9 10; do mkdir d$i; echo changed > d$i/f0; done"


def make_repository(world, files):
    folder = world.folder(f"repository-{files}/r")
    for directory in range(DIRECTORIES):
        path = folder / f"d{directory}"
        path.mkdir()
        for number in range(files // DIRECTORIES):
            (path / f"f{number}").write_text(f"{directory} {number}\n" * 4)
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    subprocess.run([*GIT, "add", "-A"], cwd=folder, check=True)
    subprocess.run([*GIT, "commit", "-q", "-m", "all"], cwd=folder, check=True)
    return folder


def whole(world, folder):
    """The three commands that a user types."""
    return [
        world.paddock("run", "-q", "--", "sh", "-c", CHANGE, cwd=folder),
        world.paddock("diff", "--stat", cwd=folder),
        world.paddock("discard", cwd=folder),
    ]


def rows(world):
    small, large = make_repository(world, 10_000), make_repository(world, 200_000)
    bare = world.paddock("run", "-q", "--mode", "none", "--", "sh", "-c", SAME_WORK, cwd=small)
    for folder in (small, large):  # the first run reads every directory for secrets once
        for command in whole(world, folder):
            command.seconds()
    worktree = str(world.top / "worktree")

    def copy():
        seconds = Command(["cp", "-a", str(small), worktree]).seconds()
        shutil.rmtree(worktree)
        return seconds

    add = Command([*GIT, "worktree", "add", "-q", "--detach", worktree], cwd=str(small))
    remove = Command([*GIT, "worktree", "remove", "--force", worktree], cwd=str(small))
    removals = []

    def add_worktree():
        seconds = add.seconds()
        removals.append(remove.seconds())
        return seconds

    times = in_turn(
        {"small": whole(world, small), "large": whole(world, large), "bare": bare,
         "worktree": add_worktree, "copy": copy}, ROUNDS)  # fmt: skip
    yield Row.ratio(
        "view of 200k files / of 10k, same directories", times["large"], times["small"], 1.5, "10k"
    )
    yield Row.ratio(
        "run+diff+discard / git worktree add, 10k",
        times["small"],
        times["worktree"],
        None,
        "worktree",
    )
    shares = [
        max(whole_run - alone, 0)
        for whole_run, alone in zip(times["small"].values, times["bare"].values)
    ]
    share = type(times["small"])(shares)
    yield Row.ratio(
        "  less the sandbox itself (run --mode none)", share, times["worktree"], 1 / 50, "worktree"
    )
    both = type(share)([a + r for a, r in zip(times["worktree"].values, removals[-ROUNDS:])])
    yield Row.ratio(
        "run+diff+discard / worktree add+remove, 10k", times["small"], both, None, "both"
    )
    yield Row.ratio("run+diff+discard / cp -a, 10k", times["small"], times["copy"], None, "cp -a")
    os.sync()
