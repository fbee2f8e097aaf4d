"""Warm sandboxes: who gets one, and that nothing tells it from another."""
import time

import pytest
from support.outlive import check_whole, ids
from support.operate import audit, metrics, write_settings
from support.process_stream import run
from support.program import PATIENCE


@pytest.fixture
def pooled(paddock, daemons):
    """Starts a daemon that keeps two of `base`, and waits until they are ready."""

    def start(text="[pool]\nbase = 2\n", ready=2, **options):
        write_settings(paddock, text)
        daemon = daemons(**options)
        wait_ready(daemon, ready)
        return daemon

    return start


def pool_of(daemon):
    """(ready, hits, misses) of base."""
    values = metrics(daemon)
    asked = 'paddock_pool_asked_total{template="base",answer="%s"}'
    return tuple(
        values.get(name, 0)
        for name in ('paddock_pool_ready{template="base"}', asked % "hit", asked % "miss")
    )


def wait_ready(daemon, ready):
    end = time.monotonic() + PATIENCE
    while pool_of(daemon)[0] != ready:
        assert time.monotonic() < end, pool_of(daemon)
        time.sleep(0.05)


def test_a_warm_one_is_all_that_was_asked_for(pooled, paddock):
    daemon = pooled()
    asked = {"metadata": {"k": "v"}, "envVars": {"MADE": "with"}, "timeout": 600}
    before = time.time()
    made = daemon.create(**asked, allow_internet_access=True)
    assert pool_of(daemon)[1:] == (1, 0)
    shown = daemon.request("GET", f"/sandboxes/{made['sandboxID']}")[1]
    assert shown["metadata"] == {"k": "v"} and shown["templateID"] == "base"
    started = time.strptime(shown["startedAt"].split(".")[0], "%Y-%m-%dT%H:%M:%S")
    assert int(before) <= time.mktime(started) - time.timezone, "its time begins with the request"
    assert run(daemon, made, "echo $MADE; id -un; pwd; ls") == ("with\nuser\n/home/user\n", 0)
    logged = daemon.request("GET", f"/v2/sandboxes/{made['sandboxID']}/logs")[1]["logs"]
    assert logged[0]["message"] == "the sandbox runs"
    wait_ready(daemon, 2)
    other = daemon.create()
    identity = "cat /proc/sys/kernel/random/boot_id /etc/machine-id; hostname"
    assert run(daemon, made, identity) != run(daemon, other, identity)
    assert run(daemon, other, "echo $MADE") == ("\n", 0)
    assert len(ids(daemon)) == 2, "one that nobody has asked for is nobody's to see"
    created = [record["sandbox"] for record in audit(paddock) if record["event"] == "sandbox_created"]
    assert created == [made["sandboxID"], other["sandboxID"]]


def test_what_it_cannot_be_is_made_anew_and_counted_by_itself(pooled):
    daemon = pooled()
    daemon.create(network={"denyOut": ["10.0.0.0/8"]})
    assert pool_of(daemon)[1:] == (0, 0), "it could not have been one of these"
    for _ in range(4):
        daemon.create()
    ready, hits, misses = pool_of(daemon)
    assert hits + misses == 4 and hits >= 2


def test_its_deadline_is_the_one_asked_for(pooled, paddock):
    daemon = pooled()
    made = daemon.create(timeout=1)
    end = time.monotonic() + PATIENCE
    while ids(daemon):
        assert time.monotonic() < end
        time.sleep(0.1)
    ended = [record for record in audit(paddock) if record["event"] == "sandbox_ended"]
    assert [(record["sandbox"], record["reason"]) for record in ended] == [
        (made["sandboxID"], "its time was up")
    ]


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_taken_ones_outlive_the_daemon_and_the_others_do_not(pooled, paddock, how):
    first = pooled()
    made = first.create(timeout=600)
    run(first, made, "echo kept > file")
    getattr(first, how)()
    second = pooled(text="", ready=0)
    assert run(second, made, "cat file") == ("kept\n", 0)
    check_whole(second, paddock, 1, 1)


@pytest.mark.parametrize("point", ["live.warm.recorded", "live.warm.leased"])
def test_a_daemon_killed_while_it_hands_one_over_leaves_it_whole_or_gone(pooled, paddock, point):
    first = pooled(env={"PADDOCK_DIE_AT": point})
    with pytest.raises(OSError):
        first.create(timeout=600)
    first.process.wait(PATIENCE)
    second = pooled(text="", ready=0)
    check_whole(second, paddock, 1)


def test_one_that_cannot_be_made_is_told_and_stops_nothing(pooled, paddock):
    daemon = pooled("[pool]\nbase = 1\nnothing = 1\n", ready=1)
    daemon.create()
    failed = [record for record in audit(paddock) if record["event"] == "pool_not_filled"]
    assert failed and "template 'nothing' not found" in failed[0]["reason"]
    assert metrics(daemon)['paddock_pool_failed_total{template="nothing"}'] >= 1
