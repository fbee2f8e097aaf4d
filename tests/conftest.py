"""Fixtures of every suite: a home, a workspace and a leak check of its own for each test."""
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.host import Leaks  # noqa: E402
from support.internet import Internet, OnlinePaddock  # noqa: E402
from support.program import TOP, Paddock  # noqa: E402
from support.trees import digest, make_repository  # noqa: E402


@pytest.fixture
def base():
    """A private folder of this test, with all that it makes; HOME in it holds what an agent wants."""
    folder = Path(tempfile.mkdtemp(prefix="t-", dir=TOP / "tmp"))
    folder.chmod(0o755)
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("PRIVATE KEY OF THE HOST\n")
    (home / ".aws").mkdir()
    (home / ".aws" / "credentials").write_text("aws_secret_access_key = HOST\n")
    leaks = Leaks(folder)
    yield folder
    left = leaks.wait_for_none()
    left += [f"file {path}" for path in sorted((folder / "state" / "sandboxes").glob("[!.]*"))]
    shutil.rmtree(folder, ignore_errors=True)
    assert not left, "left behind:\n" + "\n".join(left)


@pytest.fixture
def repo(base):
    """A small git repository in the home: the workspace. No test but one that applies changes it."""
    return make_repository(base / "home" / "project")


@pytest.fixture
def paddock(base, repo):
    return Paddock(base, repo)


@pytest.fixture
def online(base, repo):
    """Makes a paddock whose host has an internet of the test's own: online(hosts, …), see OnlinePaddock."""
    made = []

    def make(hosts, registry=None):
        made.append(Internet(base, hosts, registry))
        return OnlinePaddock(base, repo, made[-1])

    yield make
    for internet in made:
        internet.close()


@pytest.fixture
def untouched(repo):
    """Asserts at the end that the workspace on the host is what it was, to the inode and the time."""
    before = digest(repo)
    yield
    assert digest(repo) == before, "the host's workspace was changed"


def pytest_collection_modifyitems(items):
    """What known_failures.txt lists is run and reported as an expected failure, never hidden."""
    known = {}
    for line in (Path(__file__).parent / "known_failures.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, reason = (part.strip() for part in line.split(" ; ", 1))
            known[name] = reason
    for item in items:
        file = item.path.name.removeprefix("test_").removesuffix(".py")
        reason = known.get(f"{file}::{item.originalname.removeprefix('test_')}")
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
