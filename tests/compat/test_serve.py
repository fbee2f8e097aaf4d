"""The surface itself: what clients that are stricter, older or hostile meet."""
import json
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import Daemon
from support.program import PADDOCK, PATIENCE


def start(daemon, sandbox, script):
    return daemon.start(sandbox, script)


def run(daemon, sandbox, script):
    return start(daemon, sandbox, script)[0]


def test_the_answer_to_a_create_has_what_strict_clients_take_for_granted(daemon):
    for path in ("/sandboxes", "/v2/sandboxes"):
        status, made, _ = daemon.request("POST", path, {"templateID": "base"})
        assert status == 201
        for key in ("templateID", "sandboxID", "clientID", "envdVersion", "envdAccessToken"):
            assert isinstance(made[key], str) and made[key], key
        assert daemon.request("DELETE", f"/sandboxes/{made['sandboxID']}")[0] == 204


def test_errors_have_the_body_that_clients_read(daemon):
    status, body, _ = daemon.request("GET", "/sandboxes/nope")
    assert (status, body["code"]) == (404, 404)
    assert body["message"] == "Sandbox \"nope\" doesn't exist or you don't have access to it"
    status, body, _ = daemon.request("GET", "/health", headers={"E2b-Sandbox-Id": "nope"})
    assert (status, body["code"], body["sandboxId"]) == (502, 502, "nope")
    assert daemon.request("POST", "/v2/sandboxes", b"{no json")[0] == 400
    assert daemon.request("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 0})[0] == 400


def test_without_a_key_nothing_is_done(daemon):
    status, body, _ = daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": ""})
    assert (status, body["code"]) == (401, 401)


def test_lists_come_in_pages(daemon):
    made = [daemon.create(metadata={"n": str(n)})["sandboxID"] for n in range(3)]
    status, first, headers = daemon.request("GET", "/v2/sandboxes?limit=2&order=asc")
    assert [s["sandboxID"] for s in first] == made[:2]
    token = headers["X-Next-Token"]
    status, rest, headers = daemon.request(
        "GET", f"/v2/sandboxes?limit=2&order=asc&nextToken={token}"
    )
    assert [s["sandboxID"] for s in rest] == made[2:]
    assert "X-Next-Token" not in headers


def test_pages_of_other_sites_are_refused(daemon):
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        status, body, _ = daemon.request("POST", "/v2/sandboxes", {"templateID": "base"}, headers)
        assert status == 403, headers
    assert daemon.request("GET", "/v2/sandboxes")[1] == []


def test_one_sandboxes_token_opens_no_other(daemon):
    one, other = daemon.create(), daemon.create()
    stolen = {**one, "envdAccessToken": other["envdAccessToken"]}
    assert daemon.inside(stolen, "GET", "/files?path=/etc/passwd")[0] == 401
    assert daemon.inside(stolen, "POST", "/process.Process/List", {})[0] == 401
    assert daemon.inside(one, "POST", "/process.Process/List", {})[0] == 200


def test_no_path_leads_to_a_file_of_the_host(daemon, paddock):
    secret = paddock.base / "host-secret"
    secret.write_text("HOST SECRET")
    sandbox = daemon.create()
    run(daemon, sandbox, f"ln -s {secret} link; ln -s / root; ln -s /proc/1/root proc")
    for path in (
        str(secret),
        "link",
        f"root{secret}",
        f"proc{secret}",
        f"/proc/1/root{secret}",
        f"../../../../../..{secret}",
        f"/proc/self/root/../..{secret}",
    ):
        status, body, _ = daemon.inside(sandbox, "GET", f"/files?path={path}")
        assert status >= 400, (path, body)
    for path in ("link", f"root{secret}"):
        daemon.inside(sandbox, "POST", f"/files?path={path}", b"SPOILED")
    assert secret.read_text() == "HOST SECRET"


def test_a_request_is_not_smuggled_behind_another(daemon):
    sandbox = daemon.create()
    with socket.create_connection(("127.0.0.1", daemon.port), PATIENCE) as connection:
        connection.sendall(
            b"POST /v2/sandboxes HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\n"
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            + f"DELETE /sandboxes/{sandbox['sandboxID']} HTTP/1.1\r\n".encode()
            + b"Host: localhost\r\nX-API-Key: k\r\n\r\n"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert len(daemon.request("GET", "/v2/sandboxes")[1]) == 1


def test_a_killed_daemon_leaves_nothing_and_the_next_one_says_so(paddock):
    first = Daemon(paddock)
    made = first.create()
    run(first, made, "sleep 1000 >/dev/null 2>&1 & true")
    first.kill()
    second = Daemon(paddock)
    assert second.request("GET", "/v2/sandboxes")[1] == []
    assert second.request("GET", f"/sandboxes/{made['sandboxID']}")[0] == 404
    assert second.stop() == 0  # what is left of anything is found by the fixture


def test_two_daemons_do_not_share_a_home(daemon, paddock):
    done = subprocess.run(
        [PADDOCK, "serve", "--listen", "127.0.0.1:0"],
        env=paddock.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert "another `paddock serve`" in done.stderr


def test_only_loopback_is_listened_on(paddock):
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
        done = subprocess.run(
            [PADDOCK, "serve", "--listen", address],
            env=paddock.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 1, address
        assert "API keys" in done.stderr


def test_a_reader_that_stops_does_not_stop_others(daemon):
    sandbox = daemon.create()
    body = json.dumps({"process": {"cmd": "/bin/cat", "args": ["/dev/zero"]}, "stdin": False})
    with socket.create_connection(("127.0.0.1", daemon.port), PATIENCE) as stalled:
        stalled.sendall(
            b"POST /process.Process/Start HTTP/1.1\r\nHost: localhost\r\n"
            + f"E2b-Sandbox-Id: {sandbox['sandboxID']}\r\n".encode()
            + f"X-Access-Token: {sandbox['envdAccessToken']}\r\n".encode()
            + b"Content-Type: application/connect+json\r\n"
            + f"Content-Length: {len(body) + 5}\r\n\r\n".encode()
            + b"\0"
            + len(body).to_bytes(4, "big")
            + body.encode()
        )
        stalled.recv(1000)
        time.sleep(0.5)
        for n in range(20):
            assert run(daemon, sandbox, f"echo {n}") == f"{n}\n".encode()


def test_many_short_commands_have_the_right_status_each(daemon):
    sandbox = daemon.create()
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda n: start(daemon, sandbox, f"exit {n % 256}")[1], range(1000)))
    assert seen == [n % 256 for n in range(1000)]


def test_lists_leave_out_what_was_started_before(daemon):
    sandbox = daemon.create()
    started = daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]["startedAt"]

    def listed(moment):
        return [
            s["sandboxID"] for s in daemon.request("GET", f"/v2/sandboxes?startedAfter={moment}")[1]
        ]

    assert listed(started) == [sandbox["sandboxID"]]
    assert listed("2999-01-01T00:00:00%2B01:00") == []
    assert daemon.request("GET", "/v2/sandboxes?startedAfter=yesterday")[0] == 400


def test_logs_tell_of_commands_and_how_they_ended(daemon):
    sandbox = daemon.create()
    assert daemon.start(sandbox, "exit 3")[1] == 3
    path = f"/v2/sandboxes/{sandbox['sandboxID']}/logs"
    logs = daemon.request("GET", path)[1]["logs"]
    assert [entry["message"] for entry in logs] == [
        "the sandbox runs",
        "a command has started",
        "a command has ended",
    ]
    assert logs[1]["fields"]["command"] == "/bin/sh -c exit 3"
    assert (logs[2]["level"], logs[2]["fields"]["exitCode"]) == ("warn", "3")
    warned = daemon.request("GET", f"{path}?level=warn&direction=backward&limit=1")[1]["logs"]
    assert warned == [logs[2]]
    old = daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}/logs")[1]
    assert old["logs"][0]["line"] == "the sandbox runs template=base"
