"""API keys: who may use a server, and whose a sandbox is."""
import socket
import subprocess

import pytest
from support.daemon import Daemon
from support.program import PADDOCK, PATIENCE


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def make_key(paddock, label):
    return paddock("key", "create", label, "--json").ok().json()


def as_key(key):
    return {"X-API-Key": key["secret"]}


def create(daemon, key):
    status, made, _ = daemon.request(
        "POST", "/v2/sandboxes", {"templateID": "base"}, as_key(key)
    )
    assert status == 201, made
    return made["sandboxID"]


def listed(daemon, key):
    status, found, _ = daemon.request("GET", "/v2/sandboxes", headers=as_key(key))
    assert status == 200
    return [sandbox["sandboxID"] for sandbox in found]


def test_from_the_first_key_on_no_other_is_taken(daemon, paddock):
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200
    key = make_key(paddock, "ci")
    for wrong in ("any", "", key["secret"][:-1], key["secret"] + "0", key["id"], "e2b_" + "0" * 40):
        status, body, _ = daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": wrong})
        assert (status, body["code"]) == (401, 401), wrong
    assert daemon.request("GET", "/v2/sandboxes", headers=as_key(key))[0] == 200


def test_a_revoked_key_stops_at_once_and_the_door_stays_shut(daemon, paddock):
    key = make_key(paddock, "ci")
    assert daemon.request("GET", "/v2/sandboxes", headers=as_key(key))[0] == 200
    paddock("key", "revoke", "ci").ok()
    assert daemon.request("GET", "/v2/sandboxes", headers=as_key(key))[0] == 401
    assert daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": "any"})[0] == 401


def test_a_key_sees_its_own_sandboxes_and_no_others(daemon, paddock):
    one, other = make_key(paddock, "one"), make_key(paddock, "other")
    mine, yours = create(daemon, one), create(daemon, other)
    assert listed(daemon, one) == [mine]
    assert listed(daemon, other) == [yours]
    for method, path, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "/timeout", {"timeout": 1}),
        ("POST", "/connect", {"timeout": 1}),
        ("POST", "/refreshes", {"duration": 1}),
        ("GET", "/metrics", None),
        ("POST", "/pause", {}),
        ("POST", "/snapshots", {}),
    ):
        unknown = daemon.request(method, f"/sandboxes/aaaaaaaaaaaa{path}", body, as_key(one))
        foreign = daemon.request(method, f"/sandboxes/{yours}{path}", body, as_key(one))
        assert (unknown[0], foreign[0]) == (404, 404), (method, path)
        assert foreign[1]["message"] == unknown[1]["message"].replace("aaaaaaaaaaaa", yours)
    assert daemon.request("GET", f"/sandboxes/{yours}", headers=as_key(other))[0] == 200
    assert daemon.request("GET", f"/sandboxes/{mine}", headers=as_key(one))[0] == 200


def test_what_was_made_before_the_first_key_is_no_keys(daemon, paddock):
    before = daemon.create()["sandboxID"]
    key = make_key(paddock, "ci")
    assert listed(daemon, key) == []
    assert daemon.request("DELETE", f"/sandboxes/{before}", headers=as_key(key))[0] == 404


def test_with_a_key_other_addresses_may_be_listened_on(paddock):
    argv = [PADDOCK, "serve", "--listen", "0.0.0.0:0"]
    refused = subprocess.run(
        argv, env=paddock.env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert refused.returncode == 1
    assert "paddock key create" in refused.stderr
    key = make_key(paddock, "ci")
    daemon = Daemon(paddock, listen="0.0.0.0:0")
    # Names that are not loopback's are the server's own now, and keys are asked for there too.
    for host, shown, status in (
        ("ci.example", key["secret"], 200),
        ("ci.example", "any", 401),
        ("localhost", "any", 401),
    ):
        headers = {"Host": host, "X-API-Key": shown}
        assert daemon.request("GET", "/v2/sandboxes", headers=headers)[0] == status, host
    assert daemon.stop() == 0


def test_a_secret_is_shown_once_and_kept_nowhere(paddock):
    key = make_key(paddock, "ci")
    assert key["secret"].startswith("e2b_")
    shown = paddock("key", "ls").ok().out + paddock("key", "ls", "--json").ok().out
    assert key["id"] in shown and "ci" in shown
    assert key["secret"][4:] not in shown
    for file in paddock.state.rglob("*"):
        if file.is_file():
            assert key["secret"][4:].encode() not in file.read_bytes(), file


def test_wrong_use_of_keys_is_said(paddock):
    assert paddock("key", "create", "a\nb").code == 2
    assert paddock("key").code == 2
    gone = paddock("key", "revoke", "nobody")
    assert gone.code == 1 and "paddock key ls" in gone.err
    make_key(paddock, "ci"), make_key(paddock, "ci")
    assert "several" in paddock("key", "revoke", "ci").err


def test_a_guess_costs_a_request_and_says_nothing(daemon, paddock):
    """Keys with a right beginning, an over-long one, and one within other bytes answer alike."""
    key = make_key(paddock, "ci")["secret"]
    answers = set()
    for guess in (key[:20] + "0" * 24, "f" * 4000, key[:10]):
        status, body, _ = daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": guess})
        answers.add((status, body["message"]))
    assert answers == {(401, "Invalid API key")}
    with socket.create_connection(("127.0.0.1", daemon.port), PATIENCE) as connection:
        connection.sendall(
            b"GET /v2/sandboxes HTTP/1.1\r\nHost: localhost\r\n"
            + f"X-API-Key: wrong\r\nX-API-Key: {key}\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")
