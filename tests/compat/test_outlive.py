"""Sandboxes that outlive the daemon: it is stopped, or killed at any point, and the next one finds them."""
import base64
import socket
import time
from http.client import HTTPException

import pytest
from support.host import processes
from support.outlive import check_whole, ids, reason_of
from support.process_stream import replay, run, start
from support.program import PATIENCE


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_sandboxes_and_their_commands_go_on_without_the_daemon(daemons, how):
    first = daemons()
    made = first.create(metadata={"k": "v"}, envVars={"MADE": "with"}, timeout=600)
    run(first, made, "echo kept > file")
    script = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"
    counter = start(first, made, script, tag="counter", wait="3\n")
    before = first.request("GET", f"/sandboxes/{made['sandboxID']}")[1]
    getattr(first, how)()
    time.sleep(1)

    second = daemons()
    after = second.request("GET", f"/sandboxes/{made['sandboxID']}")[1]
    for field in ("sandboxID", "templateID", "metadata", "startedAt", "state", "decision"):
        assert after[field] == before[field], field
    assert abs(len(after["endAt"]) - len(before["endAt"])) <= 1
    assert run(second, made, "cat file; echo $MADE") == ("kept\nwith\n", 0)
    listed = second.inside(made, "POST", "/process.Process/List", {})[1]["processes"]
    assert [(p["pid"], p["tag"], p["config"]["args"]) for p in listed] == [
        (counter.pid, "counter", ["-c", script])
    ]
    again = replay(second, made, {"pid": counter.pid})
    assert again.until(lambda: again.out.count(b"\n") > counter.out.count(b"\n") + 30)
    whole = again.out[: again.out.rindex(b"\n")].split(b"\n")
    assert whole == [str(n + 1).encode() for n in range(len(whole))], "nothing is missing"
    assert again.first == 0
    part = replay(second, made, {"tag": "counter"}, 4)
    assert part.until(lambda: len(part.out) > 10)
    assert (part.first, part.out[:6]) == (4, again.out[4:10])
    status = second.inside(
        made,
        "POST",
        "/process.Process/SendSignal",
        {"process": {"tag": "counter"}, "signal": "SIGNAL_SIGKILL"},
    )[0]
    assert status == 200
    assert again.until(lambda: again.code is not None)
    assert ids(second) == [made["sandboxID"]]


def test_input_and_what_ended_meanwhile_are_there_after_a_kill(daemons):
    first = daemons()
    made = first.create()
    reader = start(first, made, "echo ready; read line; echo got $line", "reader", True, "ready")
    start(first, made, "sleep 0.5; echo done; exit 7", "ended")
    first.kill()
    time.sleep(1.5)
    second = daemons()
    ended = replay(second, made, {"tag": "ended"})
    assert ended.until(lambda: ended.code is not None)
    assert (ended.out, ended.code) == (b"done\n", 7)
    words = base64.b64encode(b"words\n").decode()
    status = second.inside(
        made,
        "POST",
        "/process.Process/SendInput",
        {"process": {"pid": reader.pid}, "input": {"stdin": words}},
    )[0]
    assert status == 200
    again = replay(second, made, {"pid": reader.pid})
    assert again.until(lambda: again.code is not None)
    assert again.out == b"ready\ngot words\n"


def test_a_second_daemon_at_the_port_leaves_sandboxes_alone(daemons, paddock):
    """It fails to start, after it has found them."""
    first = daemons()
    made = first.create()
    first.kill()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = paddock("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        assert done.code == 1
    second = daemons()
    assert run(second, made, "echo here") == ("here\n", 0)


def test_its_time_is_up_though_no_daemon_runs(daemons, paddock):
    before = processes()
    first = daemons()
    made = first.create(timeout=1)
    start(first, made, "exec sleep 97531")
    first.kill()
    end = time.monotonic() + 60
    left = True
    while left and time.monotonic() < end:
        time.sleep(0.2)
        left = [
            pid for pid, seen in processes().items() if before.get(pid) != seen and is_sleep(pid)
        ]
    assert not left
    second = daemons()
    assert ids(second) == []
    assert reason_of(paddock, made) == "its time was up while no daemon ran"


def is_sleep(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read() == b"sleep\x0097531\0"
    except OSError:
        return False


def test_no_socket_or_lock_of_its_agent_is_within_reach_of_a_sandbox(daemons, paddock):
    daemon = daemons()
    made = daemon.create()
    sockets = list((paddock.state / "sandboxes").glob("*/agent.sock"))
    assert len(sockets) == 1 and sockets[0].stat().st_mode & 0o077 == 0
    found = "find / -xdev -name agent.sock 2>/dev/null; grep -c agent.sock /proc/net/unix"
    assert run(daemon, made, found)[0] == "0\n"
    assert run(daemon, made, f"ls {sockets[0]}; ls -l /proc/1/fd")[1] != 0
    assert run(daemon, made, "ls /proc/self/fd | wc -l")[0] == "4\n"


CREATE = ["journalled", "started", "recorded", "leased"]
EXEC = ["asked", "started"]
DELETE = ["destroyed", "forgotten"]


@pytest.mark.parametrize("point", [f"live.create.{point}" for point in CREATE])
def test_a_kill_during_a_create_leaves_a_whole_sandbox_or_none(daemons, paddock, point):
    first = daemons(env={"PADDOCK_DIE_AT": point})
    with pytest.raises((HTTPException, OSError)):
        first.create()
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    second = daemons()
    check_whole(second, paddock, at_most=1 if point == "live.create.leased" else 0)


@pytest.mark.parametrize("point", [f"live.exec.{point}" for point in EXEC])
def test_a_kill_during_an_exec_leaves_the_sandbox(daemons, paddock, point):
    first = daemons(env={"PADDOCK_DIE_AT": point})
    first.create()
    made = first.request("GET", "/v2/sandboxes")[1][0]
    detail = first.request("GET", f"/sandboxes/{made['sandboxID']}")[1]
    with pytest.raises((AssertionError, OSError, ValueError)):
        run(first, detail, "echo x > file")
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    check_whole(daemons(), paddock, at_most=1, at_least=1)


@pytest.mark.parametrize("point", [f"live.delete.{point}" for point in DELETE])
def test_a_kill_during_a_delete_leaves_none(daemons, paddock, point):
    first = daemons(env={"PADDOCK_DIE_AT": point})
    made = first.create()
    with pytest.raises((HTTPException, OSError)):
        first.request("DELETE", f"/sandboxes/{made['sandboxID']}")
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    check_whole(daemons(), paddock, at_most=0)
    assert reason_of(paddock, made)


def test_a_kill_during_a_takeover_leaves_the_sandbox(daemons, paddock):
    first = daemons()
    made = first.create()
    start(first, made, "echo ready; exec sleep 1000", "sleeper", wait="ready")
    first.kill()
    with pytest.raises(AssertionError):
        daemons(env={"PADDOCK_DIE_AT": "live.adopt.spoken"})
    second = daemons()
    check_whole(second, paddock, at_most=1, at_least=1)
    listed = second.inside(made, "POST", "/process.Process/List", {})[1]["processes"]
    assert [process["tag"] for process in listed] == ["sleeper"]
