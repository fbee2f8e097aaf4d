"""examples/judge: verdicts of good and hostile submissions."""
import json
import shutil
import subprocess

import pytest
from support.host import needs
from support.program import TOP

JUDGE = TOP / "examples" / "judge"


@pytest.fixture
def verdicts(example):
    needs("gcc", shutil.which("gcc"), "not installed")
    done = example("judge/judge.py", "--json", "--seconds", "6", JUDGE / "sums", *sorted((JUDGE / "submissions").iterdir()))
    assert done.returncode == 0, done
    return {one["submission"]: one for one in json.loads(done.stdout)}


def memory_is_of_the_whole_sandbox(paddock):
    return paddock.run("true").control("limits.memory") == "enforced"


def test_every_submission_has_its_verdict(verdicts, paddock):
    """Each hostile one goes wrong in a way of its own, and harms neither the judge nor the next one."""
    got = {name: (one["verdict"], one["test"]) for name, one in verdicts.items()}
    hungry = got.pop("hungry.py")
    if memory_is_of_the_whole_sandbox(paddock):
        assert hungry == ("memory limit", "1")
    else:
        assert hungry == ("runtime error (status 1)", "1"), "its own allocation fails"
    assert got == {
        "bomb.py": ("time limit", "1"),
        "caller.py": ("runtime error (status 1)", "1"),
        "crash.c": ("runtime error (signal 11)", "1"),
        "endless.c": ("compile error", ""),
        "flood.py": ("output limit", "1"),
        "good.c": ("accepted", ""),
        "good.py": ("accepted", ""),
        "killer.c": ("runtime error (status 1)", "1"),
        "liar.py": ("accepted", ""),  # it found nothing of what it had left
        "shadow.c": ("compile error", ""),
        "sleeper.py": ("time limit", "1"),
        "slow.py": ("time limit", "1"),
        "thief.py": ("wrong answer", "1"),
        "wrong.py": ("wrong answer", "2"),
    }


def test_what_was_refused_is_told(verdicts):
    assert verdicts["caller.py"]["tried"] == ["network tcp 203.0.113.1:80"]
    assert verdicts["flood.py"]["tried"] == ["limit output"]
    assert verdicts["good.py"]["tried"] == verdicts["good.c"]["tried"] == []


def test_the_thief_finds_the_answers_where_nothing_is_between(base):
    """The guard off: the same program beside the problem's folder on the host."""
    copy = base / "thief.py"
    copy.write_text((JUDGE / "submissions" / "thief.py").read_text().replace('os.walk("/")', f'os.walk("{JUDGE}")'))
    done = subprocess.run(["/usr/bin/python3", copy], capture_output=True, text=True)
    assert "4999950000" in done.stdout


def test_a_table_for_people(example):
    done = example("judge/judge.py", JUDGE / "sums", JUDGE / "submissions" / "good.py", JUDGE / "submissions" / "wrong.py")
    good, wrong = done.stdout.splitlines()
    assert good.split()[:2] == ["good.py", "accepted"] and wrong.split()[:5] == ["wrong.py", "wrong", "answer", "test", "2"]


def test_a_judge_that_cannot_isolate_judges_nothing(example, base):
    policy = base / "home" / ".config" / "paddock"
    policy.mkdir(parents=True)
    (policy / "policy.toml").write_text('[accept]\ngenerated = "microvm"\n')
    done = example("judge/judge.py", JUDGE / "sums", JUDGE / "submissions" / "good.py")
    assert done.returncode == 1 and done.stdout == ""
    assert "the judge itself failed" in done.stderr and "microvm" in done.stderr, done
