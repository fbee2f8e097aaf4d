"""examples/test-batch: what many projects' tests said, and what they were refused."""
import json

import pytest
from support.daemon import Daemon
from support.program import TOP

BATCH = TOP / "examples" / "test-batch"


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock, "--egress", "none")
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def projects():
    return sorted((BATCH / "projects").iterdir())


def test_each_project_has_its_result(example, daemon):
    done = example("test-batch/batch.py", "--json", "--timeout", "8", *projects())
    assert done.returncode == 1, done
    results = {one["project"]: one for one in json.loads(done.stdout)}
    assert {name: one["result"] for name, one in results.items()} == {
        "destroys": "passed",  # it did remove what it could reach, which was its own
        "fails": "failed",
        "hangs": "timed out",
        "leaks": "passed",
        "passes": "passed",
    }
    assert results["leaks"]["refused"] == ["network tcp 203.0.113.9:443"]
    assert results["fails"]["last_line"] == ["FAILED (failures=1)"]
    assert daemon.request("GET", "/v2/sandboxes")[1] == [], "no sandbox is left"


def test_projects_on_the_host_are_as_they_were(example, daemon):
    before = {path: path.read_bytes() for path in BATCH.rglob("*") if path.is_file()}
    example("test-batch/batch.py", "--timeout", "8", *projects())
    assert {path: path.read_bytes() for path in BATCH.rglob("*") if path.is_file()} == before


def test_all_that_pass_are_status_0_and_a_table(example, daemon):
    done = example("test-batch/batch.py", BATCH / "projects" / "passes", BATCH / "projects" / "leaks")
    assert done.returncode == 0, done
    assert "passes       passed" in done.stdout
    assert "refused: network tcp 203.0.113.9:443" in done.stdout


def test_without_a_daemon_it_fails_and_says_where_it_looked(example, paddock):
    done = example("test-batch/batch.py", BATCH / "projects" / "passes")
    assert done.returncode == 1 and "paddock serve" in done.stderr, done
