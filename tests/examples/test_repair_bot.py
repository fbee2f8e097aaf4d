"""examples/repair-bot: forks of one sandbox, and the smallest change that repairs it."""
import os
import shutil
import subprocess

import pytest
from support.daemon import Daemon
from support.program import PATIENCE, TOP
from support.sdk import installed


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock, "--egress", "none")
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def project(base):
    copy = base / "slugs"
    shutil.copytree(TOP / "examples" / "slugs", copy)
    return copy


@pytest.fixture
def repair(base, project, daemon):
    """The bot as its user has it after `npm install`, on attempts that a test may change."""
    bot = base / "repair-bot"
    shutil.copytree(TOP / "examples" / "repair-bot", bot)
    (bot / "node_modules").symlink_to(installed("e2b@2.51.0") / "node_modules")

    def run():
        return subprocess.run(
            ["node", bot / "bot.js", project, bot / "attempts", base / "repair.patch"],
            env={
                "PATH": os.environ["PATH"],
                "E2B_API_URL": daemon.url,
                "E2B_SANDBOX_URL": daemon.url,
                "E2B_API_KEY": "e2b_" + "0" * 40,
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE * 3,
        )

    run.attempts = bot / "attempts"
    return run


def passes(project):
    return subprocess.run(["/usr/bin/python3", "-m", "unittest"], cwd=project, capture_output=True).returncode == 0


def test_the_smallest_change_that_repairs_it_is_kept(repair, project, base, daemon):
    done = repair()
    assert done.returncode == 0, done
    shown = [line.split() for line in done.stdout.splitlines()]
    assert shown == [
        ["before", "fails"],
        ["ascii", "passes", "10", "lines"],
        ["cheat", "fails", "0", "lines"],
        ["decompose", "passes", "2", "lines"],
        ["kept", "decompose"],
    ]
    readme = (TOP / "examples" / "repair-bot" / "README.md").read_text()
    assert done.stdout in readme, "the README shows what it prints"
    assert not passes(project), "the project on the host is as it was"
    subprocess.run(["git", "apply", base / "repair.patch"], cwd=project, check=True)
    assert passes(project)
    assert daemon.request("GET", "/v2/sandboxes")[1] == [], "no sandbox is left"


def test_an_attempt_does_not_reach_what_it_is_judged_by(repair, base):
    """It spoils its own fork: the judge's has nothing of it. Judged in its own it wins."""
    for file in repair.attempts.iterdir():
        file.unlink()
    (repair.attempts / "spoil.sh").write_text("printf 'import os\\nos._exit(0)\\n' > tests/__init__.py\n")
    done = repair()
    assert done.returncode == 1 and "spoil       fails" in done.stdout, done
    assert "no attempt repairs it" in done.stderr
    assert not (base / "repair.patch").exists()
    bot = repair.attempts.parent / "bot.js"
    bot.write_text(bot.read_text().replace("referee: forks[2 * i + 1]", "referee: forks[2 * i]"))
    assert "spoil       passes" in repair().stdout, "the twin without a fork of the judge's own"
