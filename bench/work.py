"""CPU-bound and file-bound work inside against outside."""
import os
import shutil
import subprocess

from .measure import Command, Row, in_turn
from .world import SOURCE

PACKAGE = '{"name": "bench", "version": "1.0.0", "dependencies": {"express": "^4", "eslint": "^8", "typescript": "^5"}}'
COMPILE = ("rm -rf out && mkdir out && ls src/base/*.cc src/model/*.cc src/sys/*.cc | grep -v _test | head -24 | "
           "xargs -P 2 -I{} sh -c 'g++ -std=c++20 -O1 -D_GNU_SOURCE -iquote src -w -c {} -o out/$(basename {}).o'")  # fmt: skip


def inside_and_outside(world, folder, script, rounds):
    env = {"PATH": os.defpath + ":/usr/local/bin:/usr/sbin", "HOME": str(folder.parent), "LANG": "C.UTF-8",
           "CCACHE_DISABLE": "1"}  # fmt: skip

    # The same bytes as outside would be no change, and no view to discard.
    stamped = f"{{ {script}; }} && date +%s%N > stamp"

    def inside():
        command = world.paddock(
            "run", "-q", "--env", "CCACHE_DISABLE=1", "--", "sh", "-c", stamped, cwd=folder
        )
        seconds = command.seconds()
        world.paddock("discard", cwd=folder).seconds()
        return seconds

    return in_turn(
        {"inside": inside, "outside": Command(["sh", "-c", script], str(folder), env)}, rounds
    )


def rows(world):
    compile_folder = world.folder("compile/w")
    shutil.copytree(SOURCE / "src", compile_folder / "src")
    times = inside_and_outside(world, compile_folder, COMPILE, 3)
    yield Row.ratio(
        "a compile (C++, 24 units) inside / outside",
        times["inside"],
        times["outside"],
        1.05,
        "outside",
    )
    folder = world.folder("npm/w")
    (folder / "package.json").write_text(PACKAGE)
    install = [
        "npm",
        "install",
        "--package-lock-only",
        "--no-audit",
        "--no-fund",
        "--cache",
        ".cache",
    ]
    fill = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", ".cache"]
    for argv in (install, fill):
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            yield Row.missing(
                "npm ci inside / outside", f"{' '.join(argv)} failed: {done.stderr[-200:]}"
            )
            return
    shutil.rmtree(folder / "node_modules")
    files = (
        "rm -rf node_modules; npm ci --offline --ignore-scripts --no-audit --no-fund --cache .cache"
    )
    times = inside_and_outside(world, folder, files, 3)
    yield Row.ratio(
        "npm ci from a local cache inside / outside",
        times["inside"],
        times["outside"],
        None,
        "outside",
    )
