"""What is left of live sandboxes when their daemon has gone."""
import os
import sqlite3

from support.process_stream import run


def ids(daemon):
    return [sandbox["sandboxID"] for sandbox in daemon.request("GET", "/v2/sandboxes")[1]]


def reason_of(paddock, sandbox):
    database = sqlite3.connect(f"file:{paddock.state}/paddock.db?mode=ro", uri=True)
    row = database.execute(
        "SELECT state, reason FROM live_sandbox WHERE id = ?", (sandbox["sandboxID"],)
    ).fetchone()
    database.close()
    assert row[0] == "gone"
    return row[1]


def check_whole(daemon, paddock, at_most, at_least=0):
    """Each one that is there works, and the state directory holds nothing of others."""
    found = ids(daemon)
    assert at_least <= len(found) <= at_most
    for sandbox_id in found:
        sandbox = daemon.request("GET", f"/sandboxes/{sandbox_id}")[1]
        assert run(daemon, sandbox, "echo whole") == ("whole\n", 0)
    kept = [name for name in os.listdir(paddock.state / "sandboxes") if not name.startswith(".")]
    assert sorted(kept) == sorted(found)
