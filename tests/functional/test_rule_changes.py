"""Rules that change while a command runs: `paddock allow` and `paddock deny` from another terminal."""
import json
import os
import stat
import subprocess

import pytest

from support.daemon import Daemon
from support.host import needs_root
from support.internet import INSIDE_ADDRESS

# Reads a word a line and does it; says what came of it, a line each.
PROGRAM = """
import socket, sys
kept = None
def connect(host, port):
    try:
        return socket.create_connection((host, int(port)), 10)
    except OSError as error:
        return type(error).__name__
print("ready", flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    if word == "try":
        got = connect(*rest)
        print(got if isinstance(got, str) else "reached", flush=True)
    elif word == "keep":
        kept = connect(*rest)
        print(kept.recv(100).decode().strip(), flush=True)
    elif word == "read":
        kept.settimeout(20)
        try:
            print(repr(kept.recv(100)), flush=True)
        except OSError as error:
            print(type(error).__name__, flush=True)
"""


class Running:
    """A `paddock run` of PROGRAM."""

    def __init__(self, paddock, *options):
        self.paddock = paddock
        self.outcome = paddock.base / "outcome.json"
        self.process = paddock.start(
            "run", "--outcome", self.outcome, *options, "--", "python3", "-c", PROGRAM,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()
        (self.folder,) = (paddock.state / "sandboxes").glob("[!.]*")
        self.id = self.folder.name

    def says(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, (out, err)
        return json.loads(self.outcome.read_text())


@pytest.fixture
def running(online):
    """Starts one with a.example allowed; b.example exists too."""
    made = []

    def start(*options):
        paddock = online(["a.example", "b.example"])
        made.append(Running(paddock, *options))
        return paddock, made[-1]

    yield start
    for each in made:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def test_a_host_is_allowed_and_denied_while_it_runs(running):
    paddock, run = running("--allow", "a.example")
    assert run.says("try", "a.example", 80) == "reached"
    assert run.says("try", "b.example", 80) == "gaierror"
    assert paddock("allow", run.id[:6], "b.example").ok().out == "b.example is allowed\n"
    assert run.says("try", "b.example", 80) == "reached"
    assert paddock("deny", run.id, "b.example").ok().out == "b.example is denied\n"
    assert run.says("try", "b.example", 80) == "gaierror"
    assert run.says("try", "a.example", 80) == "reached", "what was allowed before still is"
    report = run.end()
    changes = [e for e in report["network"]["events"] if e["kind"] == "rule"]
    assert [(e["verdict"], e["host"]) for e in changes] == [("allowed", "b.example"), ("denied", "b.example")]
    assert all(d["what"] != "rule for b.example" for d in report["outcome"]["denials"])


def test_a_connection_that_is_no_longer_allowed_is_closed(running):
    paddock, run = running("--allow", "a.example:2525", "--allow", "b.example:2525")
    assert run.says("keep", "a.example", 2525) == "220 hello"
    paddock("deny", run.id, "b.example").ok()
    assert run.says("try", "a.example", 2525) == "reached"
    paddock("deny", run.id, "a.example").ok()
    assert run.says("read") in ("ConnectionResetError", "b''")
    assert run.says("try", "a.example", 2525) == "gaierror"
    for port in (":2525", ""):
        answer = paddock("allow", run.id, "a.example" + port)
        assert (answer.code == 0) == (port == ""), "the same words take a denial back, no others"
    assert run.says("try", "a.example", 2525) == "reached", "what it began with holds again"
    run.end()


def test_by_the_id_of_its_view(running):
    paddock, run = running("--allow", "a.example")
    answer = paddock("allow", "zzzz", "b.example")
    assert answer.code == 1 and "no sandbox 'zzzz' runs" in answer.err
    view = answer.err.split("(view ")[1].split(")")[0]
    assert run.id in answer.err
    paddock("allow", view, "b.example").ok()
    assert run.says("try", "b.example", 80) == "reached"
    run.end()
    after = paddock("allow", view, "b.example")
    assert after.code == 1 and "none runs" in after.err


def test_what_cannot_change_is_refused_with_the_reason(running):
    paddock, run = running("--allow", "a.example")
    address = paddock("allow", run.id, "11.0.0.1:80")
    assert address.code == 1 and "fixed when it starts" in address.err
    wrong = paddock("allow", run.id, "*.com")
    assert wrong.code != 0 and "*.com" in wrong.err
    for address in (INSIDE_ADDRESS, "127.0.0.1", "169.254.169.254:80", "[::1]:80"):
        assert paddock("allow", run.id, address).code == 1, address
    paddock("deny", run.id, "*.example").ok()
    refused = paddock("allow", run.id, "b.example")
    assert refused.code == 1 and "stays refused" in refused.err and "egress:deny:*.example" in refused.err
    assert run.says("try", "b.example", 80) == "gaierror"
    run.end()


def test_a_run_without_a_way_out_says_so(running):
    paddock, run = running()
    answer = paddock("allow", run.id, "a.example")
    assert answer.code == 1 and "began with nothing allowed" in answer.err
    assert run.says("try", "a.example", 80) == "gaierror"
    run.end()


def test_the_socket_is_its_owners_alone(running):
    needs_root()
    paddock, run = running("--allow", "a.example")
    socket = run.folder / "control"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600 and run.folder.stat().st_mode & 0o077 == 0
    os.chmod(socket, 0o666)  # the guard of the file system off: the kernel's word about the peer remains
    for folder in (run.folder, run.folder.parent, paddock.state):
        folder.chmod(0o755)
    ask = f"""
import socket
s = socket.socket(socket.AF_UNIX); s.connect("{socket}")
s.sendall(b'{{"verb":"allow","host":"b.example"}}\\n')
print(s.recv(1000).decode())
"""
    stranger = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c", ask],
                              capture_output=True, text=True)
    assert stranger.stdout.strip() == "", stranger
    assert run.says("try", "b.example", 80) == "gaierror"
    owner = subprocess.run(["python3", "-c", ask], capture_output=True, text=True)
    assert "is allowed" in owner.stdout, owner
    assert run.says("try", "b.example", 80) == "reached"
    run.end()


@pytest.fixture
def served(online):
    """served(*options of serve): the daemon's paddock, and the id of a sandbox of it."""
    daemons = []

    def start(*options):
        paddock = online(["a.example", "b.example"])
        daemons.append(Daemon(paddock, *options, wrap=paddock.internet.wrap))
        return paddock, paddock("create").ok().out.strip()

    yield start
    for daemon in daemons:
        assert daemon.stop() == 0, daemon.log.read_text()


def reaches(paddock, id, host):
    return paddock("exec", id, "--", "curl", "-sS", "-m", "10", "-o", "/dev/null", f"http://{host}/").code == 0


def test_a_sandbox_of_the_daemon_is_changed_by_the_same_verbs(served):
    paddock, id = served("--egress", "open")
    assert reaches(paddock, id, "a.example") and reaches(paddock, id, "b.example")
    assert paddock("deny", id[:6], "a.example").ok().out == "a.example is denied\n"
    assert not reaches(paddock, id, "a.example") and reaches(paddock, id, "b.example")
    assert paddock("inspect", id).ok().json()["rules"] == {"a.example": "deny"}
    assert paddock("allow", id, "a.example").ok().out == "a.example is allowed\n"
    assert reaches(paddock, id, "a.example")
    for wrong in ("*.com", "127.0.0.1", INSIDE_ADDRESS):
        assert paddock("allow", id, wrong).code in (1, 2), wrong
    assert reaches(paddock, id, "a.example")
    audit = paddock("audit", "show", "--json").ok().out
    assert f"/paddock/v1/sandboxes/{id}/rules/a.example" in audit, audit


def test_a_connection_of_a_daemons_sandbox_is_closed(served):
    paddock, id = served("--allow", "a.example:2525")
    script = ("import socket; s = socket.create_connection(('a.example', 2525), 10); print(s.recv(100), flush=True); "
              "s.settimeout(30); print(s.recv(100))")
    process = paddock.start("exec", id, "--", "python3", "-c", script, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    assert "220 hello" in process.stdout.readline()
    paddock("deny", id, "a.example").ok()
    out, err = process.communicate(timeout=60)
    assert "ConnectionResetError" in err or out == "b''\n", (out, err)


def test_what_is_said_at_the_same_time_is_not_lost(served):
    paddock, id = served("--egress", "open")
    hosts = [f"h{i}.example" for i in range(24)]
    at_once = [paddock.start("deny", id, host, stdout=subprocess.DEVNULL) for host in hosts]
    assert [process.wait(60) for process in at_once] == [0] * len(hosts)
    assert paddock("inspect", id).ok().json()["rules"] == {host: "deny" for host in hosts}


def test_the_daemons_policy_is_the_bound(served):
    paddock, id = served("--allow", "a.example")
    refused = paddock("allow", id, "b.example")
    assert refused.code == 1 and "stays refused: no rule allows it" in refused.err
    assert not reaches(paddock, id, "b.example") and reaches(paddock, id, "a.example")


def test_where_nothing_leaves_nothing_is_allowed(served):
    paddock, id = served("--egress", "none")
    refused = paddock("allow", id, "a.example")
    assert refused.code == 1 and "nothing leaves this sandbox" in refused.err
    paddock("deny", id, "a.example").ok()
