"""What an operator sees: health, metrics, the audit log, settings, quotas."""
import json
import re
import signal
import subprocess

import pytest
from support.daemon import Daemon
from support.operate import audit, metrics, write_settings
from support.program import PADDOCK, PATIENCE


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def make_key(paddock, label, *options):
    return paddock("key", "create", label, "--json", *options).ok().json()


def as_key(key):
    return {"X-API-Key": key["secret"]}


def log_of(paddock):
    return paddock.state / "audit" / "audit-00000001.jsonl"


def test_health_is_told_to_anybody(daemon, paddock):
    assert daemon.request("GET", "/health")[:2] == (200, {"status": "ok"})
    make_key(paddock, "ci")
    assert daemon.request("GET", "/health", headers={"X-API-Key": ""})[0] == 200


def test_metrics_count_what_happened(daemon):
    before = metrics(daemon)
    assert before['paddock_sandboxes{state="running"}'] == 0
    made = daemon.create()
    daemon.request("POST", "/v2/sandboxes", {"templateID": "nowhere"})
    body = json.dumps({"process": {"cmd": "true", "args": []}}).encode()
    daemon.inside(
        made,
        "POST",
        "/process.Process/Start",
        b"\0" + len(body).to_bytes(4, "big") + body,
        {"Content-Type": "application/connect+json"},
    )
    daemon.request("GET", "/sandboxes/nope")
    seen = metrics(daemon)
    assert seen['paddock_sandboxes{state="running"}'] == 1
    assert seen["paddock_sandboxes_created_total"] == 1
    assert seen['paddock_sandboxes_refused_total{code="not_found"}'] == 1
    assert seen["paddock_sandbox_create_seconds_count"] == 1
    assert seen["paddock_commands_total"] == 1
    assert seen["paddock_command_seconds_count"] == 1
    assert seen['paddock_http_requests_total{route="control",status="201"}'] == 1
    assert seen['paddock_http_requests_total{route="control",status="404"}'] == 2
    assert seen['paddock_http_requests_total{route="process",status="200"}'] == 1
    daemon.request("DELETE", f"/sandboxes/{made['sandboxID']}")
    assert metrics(daemon)["paddock_sandboxes_ended_total"] == 1


def test_metrics_are_for_a_key_of_their_own(daemon, paddock):
    user, scraper = make_key(paddock, "ci"), make_key(paddock, "prometheus", "--metrics")
    for headers in (as_key(user), {"X-API-Key": "any"}, {"X-API-Key": ""}):
        assert daemon.request("GET", "/metrics", headers=headers)[0] == 401, headers
    metrics(daemon, as_key(scraper))
    metrics(daemon, {"X-API-Key": "", "Authorization": "Bearer " + scraper["secret"]})
    assert daemon.request("GET", "/v2/sandboxes", headers=as_key(scraper))[0] == 401


def test_every_request_and_decision_is_on_record(daemon, paddock):
    key = make_key(paddock, "ci")
    status, made, _ = daemon.request(
        "POST", "/v2/sandboxes", {"templateID": "base", "envVars": {"K": "CONFIDENTIAL"}}, as_key(key)
    )
    assert status == 201
    daemon.inside(made, "GET", "/files?path=/etc/hostname&signature=CONFIDENTIAL")
    daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": "e2b_bad"})
    daemon.request("DELETE", f"/sandboxes/{made['sandboxID']}", headers=as_key(key))
    paddock("key", "revoke", "ci").ok()
    records = audit(paddock)
    assert [r["seq"] for r in records] == list(range(1, len(records) + 1))

    def one(event, **fields):
        found = [
            r for r in records if r["event"] == event and fields.items() <= r.items()
        ]
        assert len(found) == 1, (event, fields, records)
        return found[0]

    one("server_started")
    one("key_create", key="ci")
    one("key_revoke", key="ci")
    created = one("sandbox_created", sandbox=made["sandboxID"], key=key["id"])
    assert created["level"] == "container" and created["controls"]["seccomp"] == "enforced"
    assert created["limits"]["memory_bytes"] > 0
    one("request", method="POST", path="/v2/sandboxes", status=201, key=key["id"])
    one("request", path="/files", sandbox=made["sandboxID"], status=200)
    one("request", path="/v2/sandboxes", status=401)
    ended = one("sandbox_ended", sandbox=made["sandboxID"], reason="it was killed")
    assert ended["life_ms"] > 0
    log = log_of(paddock).read_text()
    for secret in ("CONFIDENTIAL", key["secret"], key["secret"][4:], made["envdAccessToken"], "e2b_bad"):
        assert secret not in log, secret
    assert paddock("audit", "verify").ok().out.startswith("whole: ")


def test_a_stream_is_on_record_from_its_beginning(daemon, paddock):
    made = daemon.create()
    body = json.dumps({"process": {"cmd": "false", "args": []}}).encode()
    daemon.inside(
        made,
        "POST",
        "/process.Process/Start",
        b"\0" + len(body).to_bytes(4, "big") + body,
        {"Content-Type": "application/connect+json"},
    )
    seen = [r for r in audit(paddock) if r.get("path") == "/process.Process/Start"]
    assert [r["stream"] for r in seen] == ["begins", "ends"]


@pytest.mark.parametrize(
    "spoil, line",
    [
        (lambda lines: lines[:2] + [lines[2].replace('"event"', '"EVENT"')] + lines[3:], 3),
        (lambda lines: lines[:2] + lines[3:], 3),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: lines[:-1], 0),
    ],
    ids=["changed", "removed", "reordered", "shortened"],
)
def test_a_spoiled_log_is_found_with_its_line(paddock, spoil, line):
    daemon = Daemon(paddock)
    for _ in range(3):
        daemon.request("GET", "/v2/sandboxes")
    assert daemon.stop() == 0
    assert paddock("audit", "verify", "--json").ok().json()["ok"] is True
    lines = log_of(paddock).read_text().splitlines(keepends=True)
    log_of(paddock).write_text("".join(spoil(lines)))
    done = paddock("audit", "verify", "--json")
    assert done.code == 1
    assert done.json()["problems"][0]["line"] == line
    assert "BROKEN" in paddock("audit", "verify").out


def test_a_log_made_anew_lacks_the_record_that_was_noted(paddock):
    assert Daemon(paddock).stop() == 0
    last = paddock("audit", "verify", "--json").ok().json()["last"]
    noted = f"{last['seq']}:{last['hash']}"
    paddock("audit", "verify", "--noted", noted).ok()
    log_of(paddock).unlink()
    (paddock.state / "audit" / "head").unlink()
    assert Daemon(paddock).stop() == 0
    paddock("audit", "verify").ok()
    assert paddock("audit", "verify", "--noted", noted).code == 1


def test_after_a_kill_a_torn_line_is_cut_off_and_said(paddock):
    daemon = Daemon(paddock)
    daemon.request("GET", "/v2/sandboxes")
    daemon.kill()
    with log_of(paddock).open("ab") as log:
        log.write(b'{"seq":99,"time":"2026')
    assert "torn" in paddock("audit", "verify").ok().out
    daemon = Daemon(paddock)
    assert daemon.stop() == 0
    assert "torn line of 22 bytes" in daemon.log.read_text()
    assert [r["torn_bytes"] for r in audit(paddock) if r["event"] == "recovered"] == [22]
    assert paddock("audit", "verify", "--json").ok().json()["torn_bytes"] == 0


def test_no_answered_request_is_lost_by_a_kill(paddock):
    daemon = Daemon(paddock)
    for n in range(50):
        daemon.request("GET", f"/sandboxes/n{n}")
    daemon.kill()
    paths = [r.get("path") for r in audit(paddock)]
    # The record of the last request may not have been written when its answer was read.
    assert all(f"/sandboxes/n{n}" in paths for n in range(49))
    paddock("audit", "verify").ok()


def test_a_log_that_was_spoiled_is_not_gone_on_with(paddock):
    assert Daemon(paddock).stop() == 0
    log = log_of(paddock)
    log.write_text(log.read_text()[:-30] + "0" + log.read_text()[-29:])
    done = subprocess.run(
        [PADDOCK, "serve", "--listen", "127.0.0.1:0"],
        env=paddock.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1 and "paddock audit verify" in done.stderr


def test_records_are_shown_from_a_time_on(daemon, paddock):
    daemon.request("GET", "/sandboxes/seen")
    assert "path=/sandboxes/seen" in paddock("audit", "show", "--since", "1h").ok().out
    assert audit(paddock, "--since", "2999-01-01T00:00:00Z") == []
    assert paddock("audit", "show", "--since", "yesterday").code == 2


def test_a_log_that_cannot_be_written_stops_the_server_from_serving(paddock):
    """Its file is full at once: nothing that is asked for happens unseen."""
    daemon = Daemon(paddock)
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200
    # A soft limit on the size of files it writes; SIGXFSZ would end it, EFBIG is what it sees.
    subprocess.run(
        ["prlimit", f"--pid={daemon.process.pid}", "--fsize=0:"], check=True, capture_output=True
    )
    daemon.request("GET", "/v2/sandboxes")  # whose record is lost
    status, body, _ = daemon.request("POST", "/v2/sandboxes", {"templateID": "base"})
    assert status == 503 and "audit" in body["message"]
    assert daemon.request("GET", "/health")[:2] == (503, {"status": "failing"})
    subprocess.run(
        ["prlimit", f"--pid={daemon.process.pid}", "--fsize=unlimited:"], check=True, capture_output=True
    )
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200
    assert daemon.stop() == 0
    assert sum(r["count"] for r in audit(paddock) if r["event"] == "records_lost") >= 2
    paddock("audit", "verify").ok()


def test_settings_are_read_and_explained(paddock):
    write_settings(
        paddock,
        'max_timeout = "10m"\n[quota]\nsandboxes = 2\n[quota.ci]\nsandboxes = 3\nmemory = "64G"\n',
    )
    rows = paddock("serve", "--explain", "--json", "--listen", "127.0.0.1:0").ok().json()
    shown = {row["key"]: (row["value"], row["from"].rsplit("/")[-1]) for row in rows}
    assert shown["max_timeout"] == ("600s", "server.toml:1")
    assert shown["quota.ci.sandboxes"] == ("3", "server.toml:5")
    assert shown["quota.disk"] == ("no limit", "shipped")
    assert shown["listen"] == ("127.0.0.1:0", "--listen")
    assert "server.toml:1" in paddock("serve", "--explain").ok().out
    daemon = Daemon(paddock)
    status, body, _ = daemon.request("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 601})
    assert (status, "600 seconds" in body["message"]) == (400, True)
    made = daemon.create(timeout=600)["sandboxID"]
    for action, field in (("timeout", "timeout"), ("connect", "timeout"), ("refreshes", "duration")):
        assert daemon.request("POST", f"/sandboxes/{made}/{action}", {field: 601})[0] == 400, action
    assert daemon.stop() == 0


@pytest.mark.parametrize("text", ["max_timeot = '1h'", "[quota]\nsandboxes = 'many'", "listen ="])
def test_settings_that_are_not_understood_stop_the_server(paddock, text):
    write_settings(paddock, text)
    for options in ((), ("--explain",)):
        done = paddock("serve", *options)
        assert done.code == 2 and "server.toml:" in done.err, done


def test_a_key_gets_what_its_quota_gives_and_no_more(paddock):
    write_settings(paddock, '[quota]\nsandboxes = 1\n[quota.big]\nsandboxes = 2\n[quota.poor]\nmemory = "1M"\n')
    small, big, poor = (make_key(paddock, label) for label in ("small", "big", "poor"))
    daemon = Daemon(paddock)

    def create(key):
        return daemon.request("POST", "/v2/sandboxes", {"templateID": "base"}, as_key(key))

    status, first, _ = create(small)
    assert status == 201
    status, body, _ = create(small)
    assert (status, body["code"]) == (429, 429)
    assert "1 sandboxes at a time" in body["message"]
    assert [create(big)[0] for _ in range(3)] == [201, 201, 429]
    assert "memory" in create(poor)[1]["message"]
    daemon.request("DELETE", f"/sandboxes/{first['sandboxID']}", headers=as_key(small))
    assert create(small)[0] == 201
    assert daemon.stop() == 0


def test_many_at_once_do_not_get_past_a_quota(paddock):
    from concurrent.futures import ThreadPoolExecutor

    write_settings(paddock, "[quota]\nsandboxes = 2\n")
    daemon = Daemon(paddock)
    with ThreadPoolExecutor(8) as pool:
        seen = list(
            pool.map(
                lambda _: daemon.request("POST", "/v2/sandboxes", {"templateID": "base"})[0],
                range(8),
            )
        )
    assert sorted(seen) == [201] * 2 + [429] * 6
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.stop() == 0
