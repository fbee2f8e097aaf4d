"""Sandboxes that stand still: paused, resumed, woken by a request, at their deadline or before."""
import hashlib
import time

from concurrent.futures import ThreadPoolExecutor


def run(daemon, sandbox, script):
    return daemon.start(sandbox, script)[0]


def state(daemon, sandbox):
    return daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]["state"]


def pause(daemon, sandbox, **fields):
    return daemon.request("POST", f"/sandboxes/{sandbox['sandboxID']}/pause", fields)[0]


def connect(daemon, sandbox, **fields):
    status, body, _ = daemon.request(
        "POST", f"/v2/sandboxes/{sandbox['sandboxID']}/connect", fields
    )
    return status, body


def listed(daemon, states=""):
    query = f"?state={states}" if states else ""
    return [s["sandboxID"] for s in daemon.request("GET", f"/v2/sandboxes{query}")[1]]


COUNTER = "n=0; while :; do n=$((n+1)); echo $n > new; mv new count; sleep 0.02; done"


def test_a_paused_sandbox_stands_still_and_goes_on_where_it_was(daemon):
    sandbox = daemon.create()
    run(daemon, sandbox, f"(exec setsid sh -c '{COUNTER}') >/dev/null 2>&1 & sleep 0.5")
    pid = run(daemon, sandbox, "pgrep -f '[n]=0; while'").split()[0]
    assert pause(daemon, sandbox) == 204
    assert state(daemon, sandbox) == "paused"
    assert daemon.inside(sandbox, "GET", "/health")[0] == 502
    status, body, _ = daemon.inside(sandbox, "GET", "/files?path=count")
    assert (status, body["message"]) == (502, "The sandbox was not found")
    time.sleep(1)
    assert connect(daemon, sandbox)[0] == 201
    assert state(daemon, sandbox) == "running"
    before = int(run(daemon, sandbox, "cat count") or 0)
    # It counts 50 a second: had it gone on for the second of its pause, it would be far ahead.
    script = "a=$(cat count); sleep 0.5; b=$(cat count); echo $a $b; pgrep -f '[n]=0; while'"
    a, b, *pids = run(daemon, sandbox, script).split()
    assert before < 60 + 40, before
    assert int(b) > int(a) and pid in pids


def test_what_is_asked_of_a_paused_one_is_answered_as_e2b_does(daemon):
    sandbox = daemon.create(timeout=30)
    assert pause(daemon, sandbox) == 204
    assert pause(daemon, sandbox) == 409
    path = f"/sandboxes/{sandbox['sandboxID']}"
    assert daemon.request("POST", path + "/timeout", {"timeout": 5})[0] == 404
    assert daemon.request("GET", path + "/metrics")[:2] == (200, [])
    assert listed(daemon, "paused") == listed(daemon) == [sandbox["sandboxID"]]
    assert listed(daemon, "running") == []
    assert daemon.request("GET", "/sandboxes")[1] == []
    status, made = connect(daemon, sandbox, timeout=600)
    assert (status, made["envdAccessToken"]) == (201, sandbox["envdAccessToken"])
    assert daemon.request("POST", path + "/resume", {})[0] == 409
    assert connect(daemon, sandbox, timeout=1)[0] == 200
    assert pause(daemon, sandbox) == 204
    assert daemon.request("DELETE", path)[0] == 204
    assert daemon.request("GET", path)[0] == 404
    assert daemon.request("POST", path + "/pause", {})[0] == 404


def test_at_its_deadline_it_is_paused_where_that_was_asked_for(daemon):
    sandbox = daemon.create(timeout=1, autoPause=True)
    killed = daemon.create(timeout=1)
    for _ in range(100):
        if listed(daemon) == [sandbox["sandboxID"]] and state(daemon, sandbox) == "paused":
            break
        time.sleep(0.1)
    assert listed(daemon, "paused") == [sandbox["sandboxID"]]
    assert daemon.request("GET", f"/sandboxes/{killed['sandboxID']}")[0] == 404
    detail = daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]
    assert detail["lifecycle"] == {"autoResume": False, "onTimeout": "pause"}
    assert connect(daemon, sandbox)[0] == 201
    assert run(daemon, sandbox, "echo here") == b"here\n"


def test_traffic_wakes_one_that_asked_for_it(daemon):
    sandbox = daemon.create(autoPause=True, autoResume={"enabled": True})
    run(daemon, sandbox, "echo kept > file")
    assert pause(daemon, sandbox) == 204
    assert daemon.inside(sandbox, "GET", "/files?path=file")[:2] == (200, b"kept\n")
    assert state(daemon, sandbox) == "running"


def test_ten_rounds_lose_nothing(daemon):
    sandbox = daemon.create(timeout=600)
    run(daemon, sandbox, "(exec setsid sh -c 'echo $$ > pid; exec sleep 1000') >/dev/null 2>&1 &")
    for number in range(10):
        run(daemon, sandbox, f"head -c 300000 /dev/urandom > data{number}")
        before = run(daemon, sandbox, "sha256sum data*")
        assert pause(daemon, sandbox) == 204
        assert connect(daemon, sandbox)[0] == 201
        assert run(daemon, sandbox, "sha256sum data*") == before
    assert run(daemon, sandbox, "test -d /proc/$(cat pid) && echo runs") == b"runs\n"
    status, content, _ = daemon.inside(sandbox, "GET", "/files?path=data0")
    assert hashlib.sha256(content).hexdigest().encode() in before


def test_a_command_under_way_goes_on_behind_the_pause(daemon):
    """Its client stays connected and reads on."""
    sandbox = daemon.create(timeout=600)
    with ThreadPoolExecutor() as pool:
        script = "echo begun; for i in 1 2 3 4 5; do sleep 0.2; echo $i; done"
        going = pool.submit(run, daemon, sandbox, script)
        time.sleep(0.5)
        assert pause(daemon, sandbox) == 204
        time.sleep(1)
        assert connect(daemon, sandbox)[0] == 201
        assert going.result() == b"begun\n1\n2\n3\n4\n5\n"


def test_how_it_is_stopped_is_said(daemon):
    sandbox = daemon.create()
    detail = daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]
    control = next(c for c in detail["decision"]["controls"] if c["name"] == "pause")
    assert control["state"] in ("enforced", "approximated")
    if control["state"] == "approximated":
        assert "stop signals" in control["detail"] and "remedy" in control["detail"]


def boot_id(daemon, sandbox):
    return run(daemon, sandbox, "cat /proc/sys/kernel/random/boot_id")


def test_a_pause_of_files_alone_keeps_them_and_starts_again(daemon):
    sandbox = daemon.create(timeout=600)
    before = boot_id(daemon, sandbox)
    script = "echo kept > file; echo t > /tmp/t; ln -s file link; mkdir -m 700 d; sleep 99 &"
    run(daemon, sandbox, f"({script}) >/dev/null 2>&1")
    assert pause(daemon, sandbox, memory=False) == 204
    assert state(daemon, sandbox) == "paused"
    assert daemon.inside(sandbox, "GET", "/health")[0] == 502
    assert connect(daemon, sandbox)[0] == 201
    script = "cat file link /tmp/t; stat -c %a d; pgrep sleep || echo none"
    assert run(daemon, sandbox, script) == b"kept\nkept\nt\n700\nnone\n"
    assert boot_id(daemon, sandbox) != before
    assert pause(daemon, sandbox) == 204
    # What was kept in memory is given up on request.
    assert connect(daemon, sandbox, memory=False)[0] == 201
    assert run(daemon, sandbox, "cat file") == b"kept\n"


def test_a_sandbox_may_ask_to_keep_files_alone_at_its_deadline(daemon):
    sandbox = daemon.create(timeout=2, autoPause=True, autoPauseMemory=False)
    before = boot_id(daemon, sandbox)
    run(daemon, sandbox, "echo kept > file")
    for _ in range(100):
        if state(daemon, sandbox) == "paused":
            break
        time.sleep(0.1)
    assert connect(daemon, sandbox)[0] == 201
    assert run(daemon, sandbox, "cat file") == b"kept\n"
    assert boot_id(daemon, sandbox) != before
