"""Unix sockets of the host: those that are named work inside, all others are not there."""
import json
import os
import shutil
import subprocess

import pytest

from support.host import needs
from support.unix_services import Service, echo, wait_for_listener

# Sends its first argument, says that it is done, and prints the answer.
ASK = """python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode())
s.shutdown(socket.SHUT_WR)
out = b""
while piece := s.recv(65536): out += piece
print(out.decode())
' """


@pytest.fixture
def service(base):
    """An echo service at base/run/echo.sock."""
    (base / "run").mkdir()
    made = Service(base / "run" / "echo.sock", echo)
    yield made
    try:
        made.close()
    except OSError:
        pass  # a test has stopped it


def socket_events(done):
    return [e for e in done.report["network"]["events"] if e["kind"] == "socket"]


def test_a_granted_socket_works_under_its_own_path_and_is_on_record(paddock, service):
    done = paddock.sh(ASK + f"{service.path} hello", "--socket", service.path).ok()
    assert done.out == "echo hello\n"
    (event,) = socket_events(done)
    assert (event["verdict"], event["host"], event["protocol"]) == ("allowed", str(service.path), "unix")
    assert (event["request_bytes"], event["response_bytes"]) == (5, 10)
    assert event["process"] == "python3" and event["rule"] == "sockets"
    assert f"socket {service.path} at {service.path}" in done.decision["grants"]
    assert done.control("sockets") == "enforced"
    assert service.peers == [(service.peers[0][0], os.geteuid())], "the service sees the caller"


def test_a_socket_may_have_another_place_inside(paddock, service):
    done = paddock.sh(ASK + "/run/service/s x", "--socket", f"{service.path}:/run/service/s").ok()
    assert done.out == "echo x\n"
    shown = paddock("policy", "explain", "--socket", f"{service.path}:/run/service/s").ok()
    assert f'"{service.path}:/run/service/s"' in shown.out
    var_run = paddock.sh(ASK + "/var/run/x.sock y", "--socket", f"{service.path}:/var/run/x.sock").ok()
    assert var_run.out == "echo y\n"


def test_the_record_is_shown_with_the_view(paddock, service):
    done = paddock.sh(ASK + f"{service.path} hello > answer", "--socket", service.path).ok()
    shown = paddock("show", done.view, "--network").ok().out
    assert f"unix {service.path}" in shown and "5 B out" in shown, shown


def test_no_other_socket_of_the_host_is_there(paddock, base, service):
    other = Service(base / "run" / "other.sock", echo)
    done = paddock.sh(ASK + f"{other.path} x", "--socket", service.path)
    assert "No such file" in done.err and other.peers == []
    assert subprocess.run(["sh", "-c", ASK + f"{other.path} x"], capture_output=True).returncode == 0
    other.close()


def test_many_connections_at_once(paddock, base):
    """More at a time than the service's queue takes: they wait, as they would outside."""
    service = Service(base / "busy.sock", echo, backlog=1)
    script = """python3 -c '
import socket, sys, threading
def ask(i):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
    s.sendall(b"%d" % i); s.shutdown(socket.SHUT_WR)
    assert s.recv(100) == b"echo %d" % i, i
    done.append(i)
done = []
threads = [threading.Thread(target=ask, args=(i,)) for i in range(100)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(done))
' """ + str(service.path)
    done = paddock.sh(script, "--socket", service.path).ok()
    assert done.out == "100\n", done
    assert len(socket_events(done)) == 100
    service.close()


def test_a_large_answer_is_whole_and_a_reader_that_sleeps_holds_up_nobody(paddock, base):
    def pour(connection):
        connection.recv(1)
        connection.sendall(b"x" * (8 << 20))

    big, small = Service(base / "big.sock", pour), Service(base / "small.sock", echo)
    script = f"""python3 -c '
import hashlib, socket
slow = socket.socket(socket.AF_UNIX); slow.connect("{big.path}"); slow.sendall(b"!")
for i in range(20):
    s = socket.socket(socket.AF_UNIX); s.connect("{small.path}"); s.sendall(b"a"); s.shutdown(1)
    assert s.recv(10) == b"echo a"
got = 0
while piece := slow.recv(65536): got += len(piece)
print(got)
'"""
    done = paddock.sh(script, "--socket", big.path, "--socket", small.path).ok()
    assert done.out == f"{8 << 20}\n", done
    for service in (big, small):
        service.close()


def test_a_service_that_went_away_ends_the_connection_and_is_on_record(paddock, base, service):
    flags = base / "flags"
    flags.mkdir()
    script = f"""
{ASK} {service.path} one; echo ready
while [ ! -e /flags/gone ]; do sleep 0.05; done
{ASK} {service.path} two; echo ready
while [ ! -e /flags/back ]; do sleep 0.05; done
{ASK} {service.path} three
"""
    process = paddock.start(
        "run", "--outcome", base / "o.json", "--socket", service.path, "--mount", f"{flags}:/flags:ro", "--",
        "sh", "-c", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until_ready = lambda: list(iter(process.stdout.readline, "ready\n"))  # noqa: E731
    assert until_ready() == ["echo one\n"]
    service.stop()
    (flags / "gone").touch()
    assert "echo two\n" not in until_ready()
    back = Service(service.path, echo)
    (flags / "back").touch()
    out, err = process.communicate(timeout=60)
    assert out == "echo three\n", (out, err)
    record = json.loads((base / "o.json").read_text())["network"]["events"]
    assert [e["verdict"] for e in record if e["kind"] == "socket"] == ["allowed", "failed", "allowed"]
    back.close()


def test_what_cannot_be_given_is_refused_before_anything_runs(paddock, base, repo, service):
    paddock.sh("true", "--socket", base / "nothing").refused("granting the socket", "No such file")
    (base / "file").touch()
    paddock.sh("true", "--socket", base / "file").refused("is not a socket")
    of_paddock = Service(paddock.state / "control", echo)  # where rules of another sandbox would be changed
    paddock.sh("true", "--socket", of_paddock.path).refused("lies in", str(paddock.state))
    of_paddock.stop()
    paddock.sh("true", "--socket", "@abstract").refused("not an absolute path")
    paddock.sh("true", "--socket", f"{service.path}:{repo}/s").refused("a tree of its own")
    paddock.sh("true", "--socket", service.path, "--trust", "hostile", "--level", "auto").refused("hostile code gets no socket")


def test_a_project_names_no_socket_and_bends_no_path(paddock, repo, service):
    (repo / "agent.sock").symlink_to(service.path)
    paddock.sh("true", "--socket", repo / "agent.sock").refused("lies in", str(repo))
    (repo / "agent.sock").unlink()
    (repo / "paddock.toml").write_text(f'sockets = ["{service.path}"]\n')
    paddock.sh("true").refused("sockets", "wider")
    (repo / "paddock.toml").write_text("sockets = []\n")
    done = paddock.sh(f"ls {service.path}")
    assert done.code != 0 and "No such file" in done.err


def test_the_ssh_agent_is_there_only_by_its_name(paddock, base):
    needs("ssh-agent", shutil.which("ssh-agent"), "not installed")
    path = base / "ssh-agent.sock"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", base / "key"], check=True)
        caller = {"SSH_AUTH_SOCK": str(path)}
        wait_for_listener(path, agent)
        subprocess.run(["ssh-add", "-q", base / "key"], env={**os.environ, **caller}, check=True)
        without = paddock.sh("echo ${SSH_AUTH_SOCK-unset}", env=caller).ok()
        assert without.out == "unset\n"
        other = Service(base / "other.sock", echo)
        still = paddock.sh("echo ${SSH_AUTH_SOCK-unset}", "--socket", other.path, env=caller).ok()
        assert still.out == "unset\n"
        other.close()
        done = paddock.sh("ssh-add -l", "--socket", f"{path}:/run/agent", env=caller).ok()
        assert "ED25519" in done.out, done
    finally:
        agent.kill()
        agent.wait()
