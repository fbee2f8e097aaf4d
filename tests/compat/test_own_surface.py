"""/paddock/v1: on the socket for whoever runs the server, on the port for holders of a key."""
import base64
import http.client
import json
import os
import re
import socket
import stat
import threading
import time

import pytest
from support.daemon import Daemon
from support.program import PATIENCE

V1 = "/paddock/v1"


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        # A path may be longer than an address of a socket can be.
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        folder = os.open(self.path.parent, os.O_RDONLY)
        self.sock.connect(f"/proc/self/fd/{folder}/{self.path.name}")
        os.close(folder)


@pytest.fixture
def call(daemon, paddock):
    """A request on the socket: status, parsed JSON or bytes."""

    def call(method, path, body=None):
        connection = OverSocket(paddock.state / "run" / "paddock.sock")
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        connection.request(method, path, body)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.headers.get("Content-Type") == "application/json":
            data = json.loads(data)
        return response.status, data

    return call


def make(call, **fields):
    status, made = call("POST", V1 + "/sandboxes", fields)
    assert status == 201, made
    return made["id"]


def exec_(call, sandbox, *argv, **fields):
    """Every event of a command."""
    status, data = call("POST", f"{V1}/sandboxes/{sandbox}/exec", {"argv": argv, **fields})
    assert status == 200, data
    return [json.loads(line) for line in data.splitlines()]


def output(events, stream="stdout"):
    return b"".join(base64.b64decode(e["data"]) for e in events if e.get("stream") == stream)


def test_the_socket_is_its_owners_alone(daemon, paddock):
    found = (paddock.state / "run" / "paddock.sock").stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE((paddock.state / "run").stat().st_mode) == 0o700


def test_a_sandbox_lives_and_is_told_about(call):
    id = make(call, timeout_s=60, metadata={"k": "ä"}, environment={"FOO": "bar"})
    listed = call("GET", V1 + "/sandboxes")[1]["sandboxes"]
    assert [s["id"] for s in listed] == [id]
    status, shown = call("GET", f"{V1}/sandboxes/{id}")
    assert shown["state"] == "running" and shown["metadata"] == {"k": "ä"} and shown["key"] is None
    assert shown["decision"] == call("GET", f"{V1}/sandboxes/{id}/decision")[1]
    assert shown["decision"]["level"] == shown["level"] == "container"
    assert output(exec_(call, id, "sh", "-c", "echo $FOO")) == b"bar\n"
    assert call("POST", f"{V1}/sandboxes/{id}/timeout", {"timeout_s": 600})[0] == 204
    assert call("GET", f"{V1}/sandboxes/{id}")[1]["deadline"] > shown["deadline"]
    assert call("DELETE", f"{V1}/sandboxes/{id}")[0] == 204
    assert call("GET", f"{V1}/sandboxes/{id}")[0] == 404


@pytest.mark.parametrize(
    "script, ending, code",
    [("exit 7", "exited", 7), ("kill -9 $$", "signalled", 9), ("exec no-such", "exited", 127)],
)
def test_a_command_ends_with_its_outcome(call, script, ending, code):
    events = exec_(call, make(call), "sh", "-c", f"echo out; echo err >&2; {script}")
    assert events[0]["event"] == "started" and events[0]["pid"] > 0
    assert output(events) == b"out\n"
    assert output(events, "stderr").startswith(b"err\n")
    outcome = events[-1]["outcome"]
    assert (events[-1]["event"], outcome["ending"], outcome["code"]) == ("ended", ending, code)
    assert outcome["usage"]["stdout_bytes"] == 4


def test_a_commands_time_is_its_own(call):
    id = make(call)
    outcome = exec_(call, id, "sleep", "1000", timeout_ms=200)[-1]["outcome"]
    assert (outcome["ending"], "200 ms" in outcome["reason"]) == ("timed_out", True)
    assert output(exec_(call, id, "echo", "on")) == b"on\n"


def test_input_signals_and_terminals(call):
    id = make(call)
    seen = {}

    def run(name, *argv, **fields):
        seen[name] = exec_(call, id, *argv, **fields)

    def pid_of(tag):
        for _ in range(PATIENCE * 20):
            for process in call("GET", f"{V1}/sandboxes/{id}/processes")[1]["processes"]:
                if process["tag"] == tag:
                    return process["pid"]
            time.sleep(0.05)
        raise AssertionError("it does not start")

    cat = threading.Thread(target=run, args=("cat", "cat"), kwargs={"input": True, "tag": "cat"})
    sleep = threading.Thread(target=run, args=("sleep", "sleep", "1000"), kwargs={"tag": "sleep"})
    shell = threading.Thread(
        target=run,
        args=("sh", "sh"),
        kwargs={"terminal": {"rows": 10, "columns": 20}, "tag": "sh"},
    )
    for thread in (cat, sleep, shell):
        thread.start()
    base = f"{V1}/sandboxes/{id}/processes"
    assert call("POST", f"{base}/{pid_of('cat')}/input", b"a" * 200_000)[0] == 204
    assert call("POST", f"{base}/{pid_of('cat')}/input?end=1", b"b")[0] == 204
    assert call("POST", f"{base}/{pid_of('sleep')}/signal", {"signal": 15})[0] == 204
    pid = pid_of("sh")
    assert call("POST", f"{base}/{pid}/resize", {"rows": 11, "columns": 22})[0] == 204
    assert call("POST", f"{base}/{pid}/input", b"stty size; exit 3\n")[0] == 204
    for thread in (cat, sleep, shell):
        thread.join(PATIENCE)
    assert output(seen["cat"]) == b"a" * 200_000 + b"b"
    assert seen["sleep"][-1]["outcome"]["code"] == 15
    assert b"11 22" in output(seen["sh"], "terminal")
    assert seen["sh"][-1]["outcome"]["code"] == 3


@pytest.mark.parametrize("on_leave, left", [("kill", b"gone"), ("keep", b"there")])
def test_a_client_that_leaves_takes_its_command_along_as_it_said(call, daemon, paddock, on_leave, left):
    id = make(call)
    connection = OverSocket(paddock.state / "run" / "paddock.sock")
    body = {"argv": ["sleep", "4321"], "on_leave": on_leave}
    connection.request("POST", f"{V1}/sandboxes/{id}/exec", json.dumps(body))
    assert b"started" in connection.getresponse().readline()
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    script = "for p in /proc/[0-9]*; do grep -qs 4321 $p/cmdline && echo there && exit; done; echo gone"
    for _ in range(100):
        now = output(exec_(call, id, "sh", "-c", script.replace("4321", "432[1]"))).strip()
        if now == left and (left == b"gone" or _ > 10):
            break
        time.sleep(0.05)
    assert now == left


def test_files_go_in_and_out(call):
    id = make(call)
    data = os.urandom(3_000_000)
    assert call("PUT", f"{V1}/sandboxes/{id}/files?path=dir/a%20b", data)[0] == 204
    assert call("GET", f"{V1}/sandboxes/{id}/files?path=dir/a%20b") == (200, data)
    assert call("PUT", f"{V1}/sandboxes/{id}/files?path=empty", b"")[0] == 204
    assert call("GET", f"{V1}/sandboxes/{id}/files?path=empty") == (200, b"")
    status, body = call("GET", f"{V1}/sandboxes/{id}/files?path=nowhere")
    assert (status, body["error"]["code"]) == (404, "not_found")
    assert call("GET", f"{V1}/sandboxes/{id}/files")[0] == 400
    assert call("GET", f"{V1}/sandboxes/{id}/files?path=/tmp")[0] >= 400


def test_errors_say_what_to_do(call):
    for method, path, body, status, code in (
        ("GET", "/sandboxes/nope", None, 404, "not_found"),
        ("GET", "/nothing", None, 404, "not_found"),
        ("PATCH", "/sandboxes", {}, 405, "invalid_argument"),
        ("POST", "/sandboxes", b"{no json", 400, "invalid_argument"),
        ("POST", "/sandboxes", {"templte": "base"}, 400, "invalid_argument"),
        ("POST", "/sandboxes", {"timeout_s": 0}, 400, "invalid_argument"),
        ("POST", "/sandboxes", {"template": "nowhere"}, 404, "not_found"),
        ("GET", "/views/nowhere1", None, 404, "not_found"),
    ):
        answered, data = call(method, V1 + path, body)
        assert (answered, data["error"]["code"]) == (status, code), (method, path, data)
        assert data["error"]["message"]
    assert "'template'" in call("POST", V1 + "/sandboxes", {"templte": "x"})[1]["error"]["remedy"]
    id = make(call)
    for fields in ({}, {"argv": []}, {"argv": "ls"}, {"argv": ["ls"], "on_leave": "stay"},
                   {"argv": ["ls"], "terminal": {}}, {"argv": ["ls"], "timeout_ms": -1}):
        assert call("POST", f"{V1}/sandboxes/{id}/exec", fields)[0] == 400, fields
    assert call("POST", f"{V1}/sandboxes/{id}/processes/99999/signal", {"signal": 9})[0] == 404


def test_on_the_port_a_key_sees_its_own(call, daemon, paddock):
    keepers = make(call)
    one, other = (
        paddock("key", "create", label, "--json").ok().json()["secret"] for label in ("a", "b")
    )

    def as_key(key, method, path, body=None):
        status, data, _ = daemon.request(method, V1 + path, body, {"X-API-Key": key})
        return status, data

    status, made = as_key(one, "POST", "/sandboxes", {})
    assert status == 201 and made["key"]
    assert [s["id"] for s in as_key(one, "GET", "/sandboxes")[1]["sandboxes"]] == [made["id"]]
    assert as_key(other, "GET", "/sandboxes")[1]["sandboxes"] == []
    for path in (f"/sandboxes/{made['id']}", f"/sandboxes/{keepers}"):
        assert as_key(other, "GET", path)[0] == 404
        assert as_key(other, "DELETE", path)[0] == 404
        assert as_key(other, "POST", path + "/exec", {"argv": ["true"]})[0] == 404
        assert as_key(other, "GET", path + "/files?path=/etc/passwd")[0] == 404
    status, refused = as_key("any", "GET", "/sandboxes")
    assert (status, refused["error"]["code"]) == (401, "permission_denied")
    assert sorted(s["id"] for s in call("GET", V1 + "/sandboxes")[1]["sandboxes"]) == sorted(
        [made["id"], keepers]
    )
    events = as_key(other, "GET", "/events")[1]["events"]
    assert events == []
    assert made["id"] in [e["sandbox"] for e in as_key(one, "GET", "/events")[1]["events"]]


def test_events_and_denials_say_what_happened(call):
    id = make(call)
    for _ in range(3):
        exec_(call, id, "unshare", "--user", "true")
    for _ in range(PATIENCE * 10):
        denials = call("GET", f"{V1}/sandboxes/{id}/denials")[1]["denials"]
        if denials and denials[0]["count"] == 3:
            break
        time.sleep(0.1)
    assert [(d["what"], d["count"]) for d in denials] == [("unshare", 3)]
    call("DELETE", f"{V1}/sandboxes/{id}")
    events = call("GET", f"{V1}/events?sandbox={id}")[1]["events"]
    assert [e["event"] for e in events] == ["sandbox_created", "denied", "sandbox_ended"]
    later = call("GET", f"{V1}/events?since={events[1]['seq']}")[1]["events"]
    assert [e["event"] for e in later] == ["sandbox_ended"]
    assert call("GET", f"{V1}/events?since=x")[0] == 400


def test_usage_is_by_key_and_day(call, daemon, paddock):
    key = paddock("key", "create", "ci", "--json").ok().json()
    headers = {"X-API-Key": key["secret"]}
    made = daemon.request("POST", V1 + "/sandboxes", {}, headers)[1]["id"]
    script = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    daemon.request(
        "POST", f"{V1}/sandboxes/{made}/exec", {"argv": ["python3", "-c", script]}, headers
    )
    daemon.request("DELETE", f"{V1}/sandboxes/{made}", headers=headers)
    rows = daemon.request("GET", V1 + "/usage", headers=headers)[1]["usage"]
    assert [(r["key"], r["label"], r["sandboxes"]) for r in rows] == [(key["id"], "ci", 1)]
    assert rows[0]["sandbox_ms"] > 300 and rows[0]["cpu_us"] > 200_000
    assert rows[0]["received_bytes"] > 0 and rows[0]["sent_bytes"] > 0
    assert key["id"] in [r["key"] for r in call("GET", V1 + "/usage")[1]["usage"]]
    assert call("GET", V1 + "/usage?since=2999-01-01")[1]["usage"] == []


def test_a_sandbox_is_paused_restarted_forked_and_brought_back(call):
    id = make(call, timeout_s=60)
    base = f"{V1}/sandboxes/{id}"

    def has(sandbox):
        return output(exec_(call, sandbox, "cat", "file"))

    exec_(call, id, "sh", "-c", "echo first > file")
    status, snapshot = call("POST", base + "/snapshot", {"name": "first"})
    assert (status, snapshot["guarantee"], snapshot["sandbox"]) == (201, "quiesced", id)
    exec_(call, id, "sh", "-c", "echo second > file")
    status, forked = call("POST", base + "/fork", {"count": 2, "timeout_s": 60})
    forks = [fork["sandbox"]["id"] for fork in forked["forks"]]
    assert status == 201 and [has(fork) for fork in forks] == [b"second\n"] * 2
    status, paused = call("POST", base + "/pause", {"memory": False})
    assert (status, paused["state"], paused["kept"], paused["deadline"]) == (200, "paused", "files", None)
    for method, path, body in (
        ("POST", "/exec", {"argv": ["true"]}),
        ("GET", "/files?path=file", None),
        ("POST", "/pause", {}),
    ):
        status, refused = call(method, base + path, body)
        assert (status, refused["error"]["code"]) == (409, "failed_precondition"), (path, refused)
    assert call("GET", base)[1]["state"] == "paused"
    assert call("POST", base + "/resume", {"timeout_s": 60})[1]["state"] == "running"
    assert has(id) == b"second\n"
    assert call("POST", base + "/restart")[1]["state"] == "running"
    assert has(id) == b"second\n"
    assert call("POST", base + "/rollback", {"snapshot": "first"})[1]["state"] == "running"
    assert has(id) == b"first\n"
    for path, body, status in (
        ("/pause", {"memory": "no"}, 400),
        ("/resume", {"timeout_s": 0}, 400),
        ("/restart", {"timeout": 5}, 400),
        ("/rollback", {}, 400),
        ("/rollback", {"snapshot": "second"}, 404),
        ("/snapshot", {"name": "a b"}, 400),
        ("/snapshot", {"name": "base"}, 400),
        ("/fork", {"count": 101}, 400),
    ):
        answered, data = call("POST", base + path, body)
        assert answered == status and data["error"]["message"], (path, data)
    assert call("DELETE", V1 + "/templates/first")[0] == 204
    assert call("DELETE", V1 + "/templates/first")[0] == 404
    assert call("DELETE", V1 + "/templates/base")[0] == 400


def test_templates_of_another_key_are_none(call, daemon, paddock):
    one, other = (paddock("key", "create", label, "--json").ok().json()["secret"] for label in ("a", "b"))

    def as_key(key, method, path, body=None):
        return daemon.request(method, V1 + path, body, {"X-API-Key": key})[:2]

    id = as_key(one, "POST", "/sandboxes", {})[1]["id"]
    snapshot = as_key(one, "POST", f"/sandboxes/{id}/snapshot", {"name": "mine"})[1]["id"]
    theirs = as_key(other, "POST", "/sandboxes", {})[1]["id"]
    for action in ("pause", "resume", "restart", "snapshot", "fork"):
        assert as_key(other, "POST", f"/sandboxes/{id}/{action}", {})[0] == 404, action
    for name in ("mine", snapshot):
        assert as_key(other, "POST", f"/sandboxes/{theirs}/rollback", {"snapshot": name})[0] == 404
        assert as_key(other, "POST", "/sandboxes", {"template": name})[0] == 404
        assert as_key(other, "DELETE", f"/templates/{name}")[0] == 404
    listed = {key: as_key(key, "GET", "/templates")[1]["templates"] for key in (one, other)}
    assert [t["kind"] for t in listed[other]] == ["built-in", "built-in"]
    assert [t["id"] for t in listed[one]][2:] == [snapshot]
    assert call("GET", f"{V1}/sandboxes/{id}")[1]["state"] == "running"


def test_the_document_describes_the_surface(call, daemon):
    """What a linter of OpenAPI 3.1 looks at, and that good answers are what the document says."""
    document = call("GET", "/openapi.json")[1]
    assert document["openapi"] == "3.1.0"
    assert document["info"]["title"] and document["info"]["version"]
    schemas = document["components"]["schemas"]
    operations = {}
    for path, item in document["paths"].items():
        assert path.startswith("/") and not path.endswith("/")
        for method, operation in item.items():
            assert method in ("get", "post", "put", "delete", "patch")
            assert operation["operationId"] not in operations
            operations[operation["operationId"]] = (method, path)
            assert operation["summary"]
            named = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
            assert named == re.findall(r"{(\w+)}", path)
            for parameter in operation.get("parameters", []):
                assert parameter["schema"] and (parameter["in"] != "path" or parameter["required"])
            good = [code for code in operation["responses"] if code != "default"]
            assert len(good) == 1 and 200 <= int(good[0]) < 600
            for response in operation["responses"].values():
                assert response["description"]

    def check(schema, value, where):
        while "$ref" in schema:
            schema = schemas[schema["$ref"].removeprefix("#/components/schemas/")]
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
                 "number": (int, float), "null": type(None)}
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(isinstance(value, kinds[kind]) for kind in wanted), (where, value)
        if isinstance(value, dict):
            assert set(schema.get("required", [])) <= set(value), where
            if "properties" in schema and "description" not in schema:
                known = set(schema["properties"])
                assert schema.get("additionalProperties") or set(value) <= known | {
                    k for k in value if where == "events"
                }, (where, value)
            for name, field in schema.get("properties", {}).items():
                if name in value:
                    check(field, value[name], f"{where}.{name}")
        for item in value if isinstance(value, list) else []:
            check(schema["items"], item, where)
        assert "enum" not in schema or value in schema["enum"], where

    id = make(call)
    assert call("POST", f"{V1}/sandboxes/{id}/snapshot", {"name": "x"})[0] == 201
    for name, given in (
        ("listSandboxes", {}),
        ("listTemplates", {}),
        ("restartSandbox", {"id": id}),
        ("snapshotSandbox", {"id": id}),
        ("forkSandbox", {"id": id}),
        ("pauseSandbox", {"id": id}),
        ("resumeSandbox", {"id": id}),
        ("getSandbox", {"id": id}),
        ("listDenials", {"id": id}),
        ("listProcesses", {"id": id}),
        ("getUsage", {}),
        ("getDecision", {"id": id}),
    ):
        method, path = operations[name]
        status, data = call(method.upper(), path.format(**given))
        response = document["paths"][path][method]["responses"][str(status)]
        check(response["content"]["application/json"]["schema"], data, name)
    for event in exec_(call, id, "echo", "x"):
        check(schemas["ExecEvent"], event, "exec")
    check(schemas["Error"], call("GET", V1 + "/sandboxes/nope")[1], "error")


def test_the_socket_of_a_dead_daemon_is_taken_over(paddock):
    Daemon(paddock).kill()
    assert (paddock.state / "run" / "paddock.sock").exists()
    daemon = Daemon(paddock)
    assert paddock("ps", "--json").ok().json() == {"sandboxes": []}
    assert daemon.stop() == 0
    assert not (paddock.state / "run" / "paddock.sock").exists()
