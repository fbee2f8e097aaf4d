"""Sandboxes that stand still, or are about to, when their daemon ends: stopped, or killed at any point."""
import os
import time
from http.client import HTTPException

import pytest
from support.host_tools import NPM
from support.outlive import check_whole, ids, reason_of
from support.process_stream import replay, run, start
from support.program import PATIENCE

COUNTER = "n=0; while :; do n=$((n+1)); echo $n > new; mv new count; sleep 0.02; done"


def post(daemon, sandbox, action, **fields):
    path = f"/v2/sandboxes/{sandbox['sandboxID']}/{action}"
    status, body, _ = daemon.request("POST", path, fields)
    assert status in (200, 201, 204), body
    return body


def state(daemon, sandbox):
    return daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]["state"]


def layers(paddock):
    return [name for name in os.listdir(paddock.state / "layers") if name != "below"]


@pytest.fixture
def slow_tools(base):
    """The environment of a server whose host has a package tool that takes its time."""
    tool = base / "slow" / "npm"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nsleep 3\n{NPM}")
    tool.chmod(0o755)
    return {"PATH": f"{tool.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_what_is_paused_stays_paused_and_goes_on(daemons, slow_tools, how):
    first = daemons()
    made = first.create(timeout=600)
    begun = time.monotonic()
    counter = start(first, made, f"{COUNTER} & echo begun; wait", "counter", wait="begun")
    time.sleep(0.3)
    post(first, made, "pause")
    awake = time.monotonic() - begun
    getattr(first, how)()
    second = daemons(env=slow_tools)
    assert state(second, made) == "paused" and ids(second) == [made["sandboxID"]]
    time.sleep(1)
    begun = time.monotonic()
    post(second, made, "connect", timeout=600)
    seen, status = run(second, made, "cat count; sleep 0.5; cat count")
    awake += time.monotonic() - begun
    before, after = (int(n) for n in seen.split())
    # It counts fifty a second at most. That its agent is spoken to while it stands still may wake it
    # for a moment, but not for the seconds that the next server takes to begin.
    assert status == 0 and before < 50 * (awake + 1) and after > before
    again = replay(second, made, {"pid": counter.pid})
    assert again.until(lambda: again.out == b"begun\n")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_what_is_asleep_needs_nothing_that_runs(daemons, paddock, how):
    first = daemons()
    made = first.create(timeout=600, envVars={"MADE": "with"})
    run(first, made, "echo kept > file; cat /proc/sys/kernel/random/boot_id > boot")
    post(first, made, "pause", memory=False)
    getattr(first, how)()
    # Whatever has no process is an orphan to this one.
    assert paddock("run", "--mode", "none", "--", "true").code == 0
    second = daemons()
    assert state(second, made) == "paused"
    post(second, made, "connect", timeout=600)
    script = "cat file; echo $MADE; cmp -s boot /proc/sys/kernel/random/boot_id || echo another"
    assert run(second, made, script) == ("kept\nwith\nanother\n", 0)
    second.kill()
    third = daemons()
    assert run(third, made, "cat file") == ("kept\n", 0)


def test_a_pause_has_no_deadline_without_a_daemon_either(daemons):
    first = daemons()
    paused, asleep = first.create(timeout=2), first.create(timeout=2)
    for sandbox in (paused, asleep):
        run(first, sandbox, "echo kept > file")
    post(first, paused, "pause")
    post(first, asleep, "pause", memory=False)
    first.kill()
    time.sleep(14)  # an agent ends its sandbox ten seconds behind its deadline
    second = daemons()
    for sandbox in (paused, asleep):
        assert state(second, sandbox) == "paused"
        post(second, sandbox, "connect", timeout=600)
        assert run(second, sandbox, "cat file") == ("kept\n", 0)


PAUSE = ["pause.stopped", "sleep.noted", "sleep.ended"]
SNAPSHOT = ["live.sleep.noted", "live.sleep.ended", "layer.made", "live.create.started"]
SNAPSHOT += ["live.create.recorded", "live.create.leased", "snapshot.synced"]
AWAKE = ["live.create.started", "live.create.recorded", "live.create.leased"]


def dying(daemons, point, before, action, **fields):
    """A sandbox, and the daemon after the one that died on its way through the action. What it held was kept."""
    setting_up = daemons()
    made = setting_up.create(timeout=600)
    run(setting_up, made, "echo kept > file")
    before(setting_up, made)
    setting_up.stop()
    first = daemons(env={"PADDOCK_DIE_AT": point})
    with pytest.raises((HTTPException, OSError)):
        post(first, made, action, **fields)
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    second = daemons()
    assert made["sandboxID"] in ids(second)
    if state(second, made) == "paused":
        post(second, made, "connect", timeout=600)
    assert run(second, made, "cat file") == ("kept\n", 0)
    return made, second


def nothing(daemon, sandbox):
    pass


def busy(daemon, sandbox):
    start(daemon, sandbox, "echo ready; exec sleep 1000", "sleeper", wait="ready")


@pytest.mark.parametrize("point", PAUSE)
def test_a_kill_during_a_pause_loses_nothing(daemons, paddock, point):
    fields = {} if point.startswith("pause") else {"memory": False}
    _, second = dying(daemons, f"live.{point}", nothing, "pause", **fields)
    check_whole(second, paddock, at_most=1, at_least=1)
    assert len(layers(paddock)) == 1


@pytest.mark.parametrize("point", AWAKE)
def test_a_kill_during_a_resume_of_one_asleep_loses_nothing(daemons, paddock, point):
    def asleep(daemon, sandbox):
        post(daemon, sandbox, "pause", memory=False)

    _, second = dying(daemons, point, asleep, "connect", timeout=600)
    check_whole(second, paddock, at_most=1, at_least=1)


def test_a_kill_during_a_resume_loses_nothing(daemons, paddock):
    def paused(daemon, sandbox):
        busy(daemon, sandbox)
        post(daemon, sandbox, "pause")

    made, second = dying(daemons, "live.resume.going", paused, "connect", timeout=600)
    listed = second.inside(made, "POST", "/process.Process/List", {})[1]["processes"]
    assert [process["tag"] for process in listed] == ["sleeper"]


@pytest.mark.parametrize("point", SNAPSHOT)
def test_a_kill_during_a_snapshot_loses_nothing_and_leaves_no_half_one(daemons, paddock, point):
    _, second = dying(daemons, point, nothing, "snapshots")
    check_whole(second, paddock, at_most=1, at_least=1)
    assert second.request("GET", "/snapshots")[1] == []
    assert len(layers(paddock)) <= 2, "its own, and one that was sealed on the way"


def test_a_kill_during_a_snapshot_of_a_busy_one_lets_it_go_on(daemons, paddock):
    made, second = dying(daemons, "snapshot.copied", busy, "snapshots")
    check_whole(second, paddock, at_most=1, at_least=1)
    listed = second.inside(made, "POST", "/process.Process/List", {})[1]["processes"]
    assert [process["tag"] for process in listed] == ["sleeper"]
    assert len(layers(paddock)) == 1 and second.request("GET", "/snapshots")[1] == []


def test_a_kill_during_a_fork_leaves_whole_ones(daemons, paddock):
    _, second = dying(daemons, "live.create.journalled", nothing, "fork", count=2)
    check_whole(second, paddock, at_most=3, at_least=1)


def test_what_is_killed_asleep_is_gone(daemons, paddock):
    first = daemons()
    made = first.create()
    post(first, made, "pause", memory=False)
    first.kill()
    second = daemons()
    assert second.request("DELETE", f"/sandboxes/{made['sandboxID']}")[0] == 204
    assert reason_of(paddock, made) == "it was killed"
    check_whole(second, paddock, at_most=0)
