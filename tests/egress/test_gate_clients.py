"""Real clients through the gate to real servers, all on loopback."""
import base64
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gate import Gate, make_authority, make_leaf, server_context  # noqa: E402

HERE = Path(__file__).resolve().parent
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    authority = make_authority(folder)
    return authority[0], {h: make_leaf(folder, authority, h) for h in ("a.example", "b.example")}


@pytest.fixture
def gates(tmp_path):
    """Makes gates that end with the test."""
    made = []

    def make(**options):
        made.append(Gate(tmp_path, **options))
        return made[-1]

    yield make
    for gate in made:
        gate.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for _ in range(5):
                self.wfile.write(f"data: {time.time()}\n\n".encode())
                self.wfile.flush()
                time.sleep(0.05)
            self.close_connection = True
            return
        self.answer(json.dumps({"path": self.path, "headers": dict(self.headers)}).encode())

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        left = length
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.answer(str(length).encode())

    do_PUT = do_POST

    def log_message(self, *arguments):
        pass


@pytest.fixture
def web():
    """Starts web servers; with a leaf, of TLS."""
    servers = []

    def start(leaf=None, handler=Handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if leaf:
            server.socket = server_context(leaf).wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port

    yield start
    for server in servers:
        server.shutdown()


@pytest.fixture
def h2_server(certificates):
    if shutil.which("node") is None:
        pytest.skip("needs node: the HTTP/2 server of the tests")
    process = subprocess.Popen(
        ["node", str(HERE / "h2_server.mjs"), *map(str, certificates[1]["a.example"])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    yield int(process.stdout.readline())
    process.stdin.close()
    process.wait(timeout=10)


def curl(gate, port, path="/", *options, host="a.example", scheme="https", authority=None):
    return subprocess.run(
        ["curl", "-sS", "--max-time", "60", "--cacert", str(authority or gate.authority),
         "--resolve", f"{host}:{port}:{gate.at[host]}", *options, f"{scheme}://{host}:{port}{path}"],
        capture_output=True, text=True, timeout=90,
    )


def loopback_rule(**keys):
    keys = {"action": "allow", "hosts": "a.example", "addresses": "127.0.0.1", "ports": "*", **keys}
    return ";".join(f"{key}={value}" for key, value in keys.items())


def test_curl_passes_tls_through(gates, web, certificates):
    port = web(certificates[1]["a.example"])
    gate = gates(rules=[loopback_rule()], names=["a.example"], listen=[("a.example", port)])
    done = curl(gate, port, "/x", authority=certificates[0])
    assert json.loads(done.stdout)["path"] == "/x", done.stderr
    event = gate.event()
    assert (event["verdict"], event["protocol"], event["rule"]) == ("allowed", "tls", "egress:1")
    assert event["address"] == "127.0.0.1"


def test_curl_keeps_http2_and_its_own_certificate_when_nothing_is_looked_into(gates, h2_server, certificates):
    gate = gates(rules=[loopback_rule()], names=["a.example"], listen=[("a.example", h2_server)])
    done = curl(gate, h2_server, "/headers", "--http2", "-w", "%{http_version}", authority=certificates[0])
    assert done.stdout.endswith("2"), done.stderr


def test_an_opened_connection_keeps_http2(gates, h2_server, certificates):
    gate = gates(rules=[loopback_rule(paths="/headers,/echo,/big")], names=["a.example"],
                 listen=[("a.example", h2_server)], trust=certificates[0])
    done = curl(gate, h2_server, "/headers", "--http2", "-w", "\n%{http_version}")
    body, version = done.stdout.rsplit("\n", 1)
    assert version == "2", done.stderr
    assert json.loads(body)["version"] == "2.0"
    event = gate.event()
    assert (event["event"], event["protocol"], event["status"]) == ("request", "h2", 200)
    refused = curl(gate, h2_server, "/events", "--http2", "-i")
    assert "HTTP/2 403" in refused.stdout and "x-paddock-denied: egress" in refused.stdout
    assert "no rule allows it" in refused.stdout


def test_an_opened_connection_keeps_http1(gates, h2_server, certificates):
    gate = gates(rules=[loopback_rule(paths="/headers")], names=["a.example"],
                 listen=[("a.example", h2_server)], trust=certificates[0])
    done = curl(gate, h2_server, "/headers", "--http1.1", "-w", "\n%{http_version}")
    assert done.stdout.endswith("1.1"), done.stderr
    assert '"version":"1.1"' in done.stdout


def test_http2_streams_both_ways_with_trailers(gates, h2_server, certificates):
    gate = gates(rules=[loopback_rule(methods="POST")], names=["a.example"],
                 listen=[("a.example", h2_server)], trust=certificates[0])
    done = subprocess.run(["node", str(HERE / "h2_client.mjs"), "a.example", str(h2_server),
                           gate.at["a.example"], str(gate.authority)],
                          capture_output=True, text=True, timeout=30)
    assert "status 200" in done.stdout, done.stdout + done.stderr
    assert "sum 25" in done.stdout
    assert "echoed 5 code 0" in done.stdout


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_large_bodies_pass_whole(gates, h2_server, certificates, tmp_path, version):
    gate = gates(rules=[loopback_rule(methods="GET,POST")], names=["a.example"],
                 listen=[("a.example", h2_server)], trust=certificates[0])
    size = 30_000_000
    upload = tmp_path / "upload"
    upload.write_bytes(os.urandom(size))
    done = curl(gate, h2_server, "/echo", version, "-X", "POST", "--data-binary", f"@{upload}",
                "-o", str(tmp_path / "echo"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "echo").read_bytes() == upload.read_bytes()
    done = curl(gate, h2_server, f"/big?{size}", version, "-o", "/dev/null", "-w", "%{size_download}")
    assert done.stdout == str(size), done.stderr


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_events_arrive_as_they_are_sent(gates, h2_server, certificates, version):
    gate = gates(rules=[loopback_rule(methods="GET")], names=["a.example"],
                 listen=[("a.example", h2_server)], trust=certificates[0])
    client = subprocess.Popen(
        ["curl", "-sSN", version, "--max-time", "20", "--cacert", str(gate.authority), "--resolve",
         f"a.example:{h2_server}:{gate.at['a.example']}", f"https://a.example:{h2_server}/events"],
        stdout=subprocess.PIPE, text=True)
    arrived = []
    for line in client.stdout:
        if line.startswith("data: "):
            arrived.append((int(line[6:]), time.time() * 1000))
    assert client.wait() == 0 and len(arrived) == 5
    # Buffered, the first would come with the last, 200 ms late.
    assert arrived[-1][1] - arrived[0][1] > 100


def test_a_credential_is_put_on_over_http2_and_masked(gates, h2_server, certificates):
    gate = gates(rules=[loopback_rule()], names=["a.example"], listen=[("a.example", h2_server)],
                 trust=certificates[0],
                 credentials=[f"name=github;hosts=a.example;ports=*;env=TOKEN;secret={TOKEN}"])
    placeholder = gate.environment["TOKEN"]
    assert placeholder != TOKEN and placeholder.startswith("ghp_") and len(placeholder) == len(TOKEN)
    done = curl(gate, h2_server, "/headers", "--http2", "-H", f"Authorization: Bearer {placeholder}")
    seen = json.loads(done.stdout)["headers"]["authorization"]
    assert seen == "Bearer " + "*" * len(TOKEN), done.stdout
    assert gate.event()["credentials"] == ["github"]
    elsewhere = curl(gate, h2_server, "/headers", "--http2", "-H", f"X-Other: {placeholder}", "-i")
    assert "HTTP/2 403" in elsewhere.stdout


def test_git_over_https_with_a_credential_it_never_sees(gates, certificates, tmp_path):
    origin = tmp_path / "srv" / "o" / "r.git"
    origin.mkdir(parents=True)
    git = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path), "PATH": os.environ["PATH"],
           "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@a.example", "GIT_COMMITTER_NAME": "t",
           "GIT_COMMITTER_EMAIL": "t@a.example", "GIT_TERMINAL_PROMPT": "0"}

    def run(*arguments, cwd=tmp_path, check=True):
        return subprocess.run(["git", *map(str, arguments)], cwd=cwd, env=git, check=check, capture_output=True,
                              text=True, timeout=60)

    run("init", "-q", "--bare", "-b", "main", origin)
    run("-C", origin, "config", "http.receivepack", "true")
    port = git_server(tmp_path / "srv", certificates[1]["a.example"])
    rule = loopback_rule(protocol="git", repositories="o/r", push="agent/*")
    gate = gates(rules=[rule], names=["a.example"], listen=[("a.example", port)], trust=certificates[0],
                 credentials=[f"name=github;kind=git;hosts=a.example;ports=*;env=TOKEN;secret={TOKEN}"])
    for key, value in {"http.sslCAInfo": gate.authority,
                       "http.curloptResolve": f"a.example:{port}:{gate.at['a.example']}"}.items():
        run("config", "--global", key, value)
    cloned = run("clone", "-q", f"https://a.example:{port}/o/r.git", "work", check=False)
    assert cloned.returncode == 0, cloned.stderr
    work = tmp_path / "work"
    run("commit", "-q", "--allow-empty", "-m", "one", cwd=work)
    pushed = run("push", "-q", "origin", "HEAD:refs/heads/agent/x", cwd=work, check=False)
    assert pushed.returncode == 0, pushed.stderr
    assert "refs/heads/agent/x" in run("-C", origin, "for-each-ref").stdout
    refused = run("push", "-q", "origin", "HEAD:refs/heads/main", cwd=work, check=False)
    assert refused.returncode != 0 and "no rule allows it" in refused.stderr
    assert "refs/heads/main" not in run("-C", origin, "for-each-ref").stdout
    assert run("fetch", "-q", "origin", cwd=work).returncode == 0


def git_server(root, leaf):
    """git http-backend behind TLS; only with the token in Basic."""

    class Backend(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self):
            expected = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
            if self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            environment = {"GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                           "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "agent",
                           "CONTENT_TYPE": self.headers.get("Content-Type", ""), "PATH": os.environ["PATH"],
                           "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                           "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
            done = subprocess.run(["git", "http-backend"], input=self.body(), env=environment, capture_output=True)
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            status = next((value for name, value in fields if name == "Status"), "200 OK")
            self.send_response(int(status.split()[0]))
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def body(self):
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            out = b""
            while size := int(self.rfile.readline(), 16):
                out += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return out

        do_GET = do_POST = serve

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    server.socket = server_context(leaf).wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: its fetch")
def test_node_fetch_needs_no_proxy_variable(gates, web, certificates):
    port = web(certificates[1]["a.example"])
    gate = gates(rules=[loopback_rule(paths="/x")], names=["a.example"], listen=[("a.example", port)],
                 trust=certificates[0])
    script = f"""
      const dns = require("node:dns");
      const real = dns.lookup;
      dns.lookup = (name, options, done) => real("{gate.at['a.example']}", options, done);
      (async () => {{
        const fine = await fetch("https://a.example:{port}/x");
        const refused = await fetch("https://a.example:{port}/y");
        console.log(fine.status, refused.status, refused.headers.get("x-paddock-denied"));
      }})();
    """
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "NODE_EXTRA_CA_CERTS": str(gate.authority)})
    assert done.stdout.split() == ["200", "403", "egress"], done.stdout + done.stderr


def test_plain_http_is_checked_and_events_pass(gates, web):
    port = web()
    gate = gates(rules=[loopback_rule()], names=["a.example"], listen=[("a.example", port)])
    assert json.loads(curl(gate, port, "/x", scheme="http").stdout)["path"] == "/x"
    fronted = curl(gate, port, "/x", "-H", "Host: evil.example", "-i", scheme="http")
    assert "403 Forbidden" in fronted.stdout and "connection was made to a.example" in fronted.stdout
    events = curl(gate, port, "/events", "-N", scheme="http").stdout
    assert events.count("data: ") == 5


def test_a_large_upload_with_expect_is_flat(gates, web, certificates, tmp_path):
    port = web(certificates[1]["a.example"])
    gate = gates(rules=[loopback_rule(methods="PUT")], names=["a.example"], listen=[("a.example", port)],
                 trust=certificates[0])
    upload = tmp_path / "upload"
    size = 300_000_000
    with open(upload, "wb") as file:
        file.truncate(size)
    done = curl(gate, port, "/", "-T", str(upload), "-H", "Expect: 100-continue")
    assert done.stdout == str(size), done.stderr
    peak = next(line for line in Path(f"/proc/{gate.process.pid}/status").read_text().splitlines()
                if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 200_000, peak  # kB, of an instrumented build


def test_a_name_for_another_host_in_tls_is_an_alert(gates, web, certificates):
    port = web(certificates[1]["b.example"])
    gate = gates(rules=[loopback_rule(), loopback_rule(hosts="b.example")], names=["a.example", "b.example"],
                 listen=[("a.example", port)])
    done = subprocess.run(["openssl", "s_client", "-connect", f"{gate.at['a.example']}:{port}",
                           "-servername", "b.example"],
                          input="", capture_output=True, text=True, timeout=20)
    assert "access denied" in done.stderr
    assert gate.event()["verdict"] == "denied"


def test_names_are_answered_by_policy_alone(gates):
    gate = gates(rules=[loopback_rule()])
    assert gate.resolve("A.EXAMPLE.")["answer"].startswith("198.18.")
    refused = gate.resolve("data.evil.example")
    assert refused["answer"] == "" and "no rule allows it" in refused["refused"]


def test_a_websocket_echoes_for_a_while(gates, certificates):
    """Frames of a minimal WebSocket server and client, over opened TLS."""
    listener = socket.create_server(("127.0.0.1", 0))
    context = server_context(certificates[1]["a.example"])

    def serve():
        raw, _ = listener.accept()
        with context.wrap_socket(raw, server_side=True) as peer:
            head = b""
            while b"\r\n\r\n" not in head:
                head += peer.recv(4096)
            peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            while data := peer.recv(4096):
                peer.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    gate = gates(rules=[loopback_rule(methods="GET")], names=["a.example"], listen=[("a.example", port)],
                 trust=certificates[0])
    client = ssl.create_default_context(cafile=str(gate.authority))
    with socket.create_connection((gate.at["a.example"], port)) as raw:
        with client.wrap_socket(raw, server_hostname="a.example") as peer:
            peer.sendall(f"GET /chat HTTP/1.1\r\nHost: a.example:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
            assert peer.recv(4096).startswith(b"HTTP/1.1 101")
            for i in range(50):
                frame = b"\x82\x85" + b"mask" + f"{i:05}".encode()
                peer.sendall(frame)
                assert peer.recv(4096) == frame
