"""`paddock serve --tls`: unmodified clients over https, by name and by address; what is refused."""
import json
import os
import socket
import ssl
import subprocess
import time

import pytest
from support.daemon import Daemon
from support.program import PADDOCK, PATIENCE
from support.sdk import Sdk, installed

# Stands for a resolver that knows names below localhost and a zone of one's own (DNS, nss-myhostname).
RESOLVER = r"""
const dns = require('node:dns')
const real = dns.lookup
dns.lookup = (name, options, callback) =>
  real(/\.(localhost|test)$/.test(name) ? '127.0.0.1' : name, options, callback)
"""
# Echoes messages of a WebSocket, by hand: nothing is there but Python. GET says what it got.
ECHO = r"""
import base64, hashlib, http.server, json
class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        key = self.headers.get("Sec-WebSocket-Key")
        if not key:
            out = json.dumps(dict(self.headers)).encode()
            self.send_response(200); self.send_header("Content-Length", str(len(out))); self.end_headers()
            return self.wfile.write(out)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        self.close_connection = True
        while head := self.rfile.read(2):
            size = head[1] & 127
            if size == 126: size = int.from_bytes(self.rfile.read(2), "big")
            if size == 127: size = int.from_bytes(self.rfile.read(8), "big")
            mask, data = self.rfile.read(4), self.rfile.read(size)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
            length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 65536 else b"\x7f" + size.to_bytes(8, "big")
            self.wfile.write(bytes([head[0]]) + length + data)
            if head[0] & 15 == 8: return
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 3000), Echo).serve_forever()
"""
PRELUDE = """
import { Sandbox } from 'e2b'
async function serve(s) {
  await s.files.write('echo.py', ECHO)
  await s.commands.run('python3 echo.py', { background: true })
  const there = 'import socket; socket.create_connection(("127.0.0.1", 3000))'
  for (let i = 0; !(await s.commands.run(`python3 -c '${there}'`).catch(() => null)); ++i) {
    assert.ok(i < 50)
    await new Promise(r => setTimeout(r, 100))
  }
}
""".replace("ECHO", json.dumps(ECHO))


@pytest.fixture
def settings(paddock):
    """Writes the server.toml of whoever starts the daemon."""

    def write(text):
        folder = paddock.home / ".config" / "paddock"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "server.toml").write_text(text)

    return write


@pytest.fixture
def authority(paddock):
    return paddock("tls", "ca").ok().out.strip()


@pytest.fixture
def daemon(paddock, authority):
    daemon = Daemon(paddock, "--tls", "--egress", "none", authority=authority)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def sdk(daemon, authority, env):
    folder = installed("e2b@2.51.0", "ws@8.18.0")
    (folder / "resolver.cjs").write_text(RESOLVER)
    options = f"--require={folder / 'resolver.cjs'}"
    trusted = {"NODE_EXTRA_CA_CERTS": str(authority)} if authority else {}
    return Sdk(folder, daemon, prelude=PRELUDE, env={"NODE_OPTIONS": options, **trusted, **env})


WHOLE_ROUND = """
    const s = await Sandbox.create()
    assert.equal((await s.commands.run('echo hello')).stdout, 'hello\\n')
    await s.files.write('a.txt', 'over TLS')
    assert.equal(await s.files.read('a.txt'), 'over TLS')
    const url = await s.downloadUrl('a.txt')
    assert.match(url, /^https:/)
    assert.equal(await (await fetch(url)).text(), 'over TLS')
    const form = new FormData()
    form.append('file', new Blob([Buffer.alloc(3_000_000, 'x')]), 'big')
    assert.equal((await fetch(await s.uploadUrl('big'), { method: 'POST', body: form })).status, 200)
    assert.equal((await s.commands.run('wc -c < big')).stdout.trim(), '3000000')
    await serve(s)
    const host = s.getHost(3000)
    assert.equal(host, `3000-${s.sandboxId}.${process.env.EXPECTED}`)
    const seen = await (await fetch(`https://${host}/`)).json()
    assert.equal(seen['X-Forwarded-Proto'], 'https')
    assert.equal(seen.Host, host)
    assert.equal(await s.kill(), true)
"""


@pytest.mark.parametrize("domain", ["localhost", "sbx.localhost"])
def test_the_sdk_works_by_names_below_localhost(daemon, authority, domain):
    name = f"{domain}:{daemon.port}"
    sdk(daemon, authority, {"E2B_DOMAIN": name, "EXPECTED": name})(WHOLE_ROUND)


def test_the_sdk_works_by_a_domain_of_ones_own(paddock, settings):
    settings('domain = "sbx.test"\ntls = true\n')
    authority = paddock("tls", "ca").ok().out.strip()
    daemon = Daemon(paddock, "--egress", "none", authority=authority)
    name = f"sbx.test:{daemon.port}"
    sdk(daemon, authority, {"E2B_DOMAIN": name, "EXPECTED": name})(WHOLE_ROUND)
    assert daemon.stop() == 0


def test_the_sdk_works_by_address(daemon, authority):
    assert daemon.url.startswith("https://127.0.0.1:")
    env = {"E2B_API_URL": daemon.url, "E2B_SANDBOX_URL": daemon.url}
    sdk(daemon, authority, {**env, "EXPECTED": f"localhost:{daemon.port}"})(WHOLE_ROUND)


def test_a_client_that_does_not_trust_the_authority_sends_nothing(daemon):
    sdk(daemon, None, {"E2B_DOMAIN": f"localhost:{daemon.port}"})("""
    await assert.rejects(Sandbox.create(), e => /certificate/.test(`${e} ${e.cause} ${e.cause?.code}`))
    """)
    assert daemon.request("GET", "/v2/sandboxes")[1] == []


def test_websockets_reach_a_port_of_the_sandbox(daemon, authority):
    sdk(daemon, authority, {"E2B_DOMAIN": f"localhost:{daemon.port}"})("""
    import WebSocket from 'ws'
    const s = await Sandbox.create()
    await serve(s)
    const socket = new WebSocket(`wss://${s.getHost(3000)}/chat`)
    const next = () => new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    for (const text of ['hello', 'x'.repeat(1000), 'y'.repeat(200_000)]) {
      const answer = next()
      socket.send(text)
      assert.equal(String(await answer), text)
    }
    const closed = new Promise(r => socket.once('close', r))
    socket.close(1000)
    assert.equal(await closed, 1000)
    await s.kill()
    """)


def curl(daemon, *options, host="127.0.0.1"):
    return subprocess.run(
        ["curl", "-sS", "--max-time", str(PATIENCE), "-H", "X-API-Key: any", *options,
         f"https://{host}:{daemon.port}/v2/sandboxes"],
        capture_output=True, text=True,
    )  # fmt: skip


def test_curl_trusts_the_authority_and_nothing_else(daemon, authority):
    for host in ("127.0.0.1", "localhost", "api.localhost", "49983-id.sbx.localhost"):
        done = curl(daemon, "--cacert", authority, "--connect-to", "::127.0.0.1:", host=host)
        wanted = 0 if "49983" not in host else None
        assert done.returncode == 0, (host, done.stderr)
        assert wanted is None or done.stdout == "[]", done
    done = curl(daemon, "--connect-to", "::127.0.0.1:")
    assert done.returncode == 60 and "certificate" in done.stderr, done
    stranger = curl(daemon, "--cacert", authority, "--connect-to", "::127.0.0.1:", host="example.com")
    assert stranger.returncode == 60, stranger


def test_old_protocols_are_refused(daemon, authority):
    for version, wanted in (("1.1", 35), ("1.2", 0), ("1.3", 0)):
        done = curl(daemon, "--cacert", authority, f"--tlsv{version}", "--tls-max", version)
        assert done.returncode == wanted, (version, done)


def test_plain_http_is_told_what_to_do(daemon):
    with socket.create_connection(("127.0.0.1", daemon.port), PATIENCE) as plain:
        plain.sendall(b"POST /v2/sandboxes HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\nContent-Length: 2\r\n\r\n{}")
        answer = b""
        while piece := plain.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 "), answer
    assert json.loads(body)["code"] == 400
    assert "https://" in json.loads(body)["message"] and "paddock tls ca" in json.loads(body)["message"]
    assert daemon.request("GET", "/v2/sandboxes")[1] == []


def is_cut(client):
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_clients_that_never_finish_their_handshake_hold_up_nobody(daemon):
    slow = [socket.create_connection(("127.0.0.1", daemon.port), PATIENCE) for _ in range(400)]
    for number, client in enumerate(slow):
        if number % 2:
            client.sendall(b"\x16\x03\x01\x02\x00\x01")
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200
    began = time.monotonic()
    assert is_cut(slow[0]) and time.monotonic() - began < 3, "the oldest had to go"
    assert is_cut(slow[-1]) and time.monotonic() - began > 3, "the newest had its time"
    for client in slow:
        client.close()
    assert "paddock_tls_handshakes_failed_total 400" in daemon.request("GET", "/metrics")[1].decode()


def test_the_authority_stays_and_its_key_is_private(paddock, daemon, authority):
    folder = os.path.dirname(authority)
    assert os.stat(f"{folder}/key.pem").st_mode & 0o777 == 0o600
    assert os.stat(folder).st_mode & 0o777 == 0o700
    shown = paddock("tls", "ca", "--json").ok().json()
    assert shown == {"domain": "localhost", "file": authority, "pem": open(authority).read()}
    assert paddock("tls", "ca", "--pem").ok().out == shown["pem"]
    assert daemon.stop() == 0
    again = Daemon(paddock, "--tls", authority=authority)
    assert again.request("GET", "/v2/sandboxes")[0] == 200
    assert again.stop() == 0


def test_a_stolen_authority_is_good_for_this_servers_names_alone(base, authority):
    """The twin: without the constraints the same leaf is believed (src/net/certificate_test.cc)."""
    folder = os.path.dirname(authority)
    make_certificate(base, "bank.example", issuer=(authority, f"{folder}/key.pem"))
    verify = ["openssl", "verify", "-CAfile", authority]
    done = subprocess.run([*verify, base / "bank.example.pem"], capture_output=True, text=True)
    assert done.returncode != 0 and "permitted subtree violation" in done.stderr, done
    make_certificate(base, "x.localhost", issuer=(authority, f"{folder}/key.pem"))
    assert subprocess.run([*verify, base / "x.localhost.pem"], capture_output=True).returncode == 0


def make_certificate(base, name, issuer=None, wildcard=False):
    """NAME.pem and NAME.key by openssl."""
    files = {"cert": base / f"{name}.pem", "key": base / f"{name}.key"}
    names = f"DNS:{name},IP:127.0.0.1" + (f",DNS:*.{name}" if wildcard else "")
    signed = ["-CA", issuer[0], "-CAkey", issuer[1]] if issuer else []
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/O=test", "-days", "2",
         "-addext", f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE", *signed,
         "-keyout", files["key"], "-out", files["cert"]],
        check=True, capture_output=True,
    )  # fmt: skip
    files["key"].chmod(0o600)
    return files


def own(files):
    return ["--tls-cert", files["cert"], "--tls-key", files["key"]]


def test_the_operators_certificate_is_shown_and_read_again_when_it_is_another(paddock, base, settings):
    settings('domain = "sbx.test"\n')
    files = make_certificate(base, "sbx.test", wildcard=True)
    daemon = Daemon(paddock, *own(files), authority=files["cert"])
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200
    assert "is not for" not in daemon.log.read_text()
    before = ssl.get_server_certificate(("127.0.0.1", daemon.port))
    (base / "new").mkdir()
    renewed = make_certificate(base / "new", "sbx.test", wildcard=True)
    for part in ("key", "cert"):
        renewed[part].rename(files[part])
    until = time.monotonic() + 2 * PATIENCE
    while ssl.get_server_certificate(("127.0.0.1", daemon.port)) == before:
        assert time.monotonic() < until, daemon.log.read_text()
        time.sleep(0.5)
    assert ssl.get_server_certificate(("127.0.0.1", daemon.port)) == files["cert"].read_text()
    files["cert"].write_text("torn")
    while "the certificate stays as it is" not in daemon.log.read_text():
        assert time.monotonic() < until, daemon.log.read_text()
        time.sleep(0.5)
    assert ssl.get_server_certificate(("127.0.0.1", daemon.port)) != before
    files["cert"].unlink()
    while daemon.log.read_text().count("stays as it is") < 2:
        assert time.monotonic() < until, daemon.log.read_text()
        time.sleep(0.5)
    time.sleep(12)  # another look
    assert daemon.log.read_text().count("stays as it is") == 2, "each state of the files once"
    events = [json.loads(line)["event"] for line in paddock("audit", "show", "--json").ok().out.splitlines()]
    assert events.count("certificate_renewed") == 1 and events.count("certificate_refused") == 2
    assert daemon.stop() == 0


def test_a_certificate_that_is_not_for_ports_or_ends_soon_is_told(paddock, base):
    files = make_certificate(base, "sbx.test")
    daemon = Daemon(paddock, *own(files), authority=files["cert"])
    said = daemon.log.read_text()
    assert "is not for *.localhost" in said and "sbx.test.pem ends on " in said
    assert daemon.stop() == 0


def test_certificates_that_cannot_serve_are_refused_with_the_remedy(paddock, base):
    good = make_certificate(base, "good.test")
    (base / "other").mkdir()
    other = make_certificate(base / "other", "good.test")
    over = make_certificate(base, "over.test")
    subprocess.run(["openssl", "x509", "-in", over["cert"], "-signkey", over["key"], "-days", "-1", "-out", over["cert"]],
                   check=True, capture_output=True)  # fmt: skip
    public = make_certificate(base, "public.test")
    public["key"].chmod(0o644)
    locked = {**good, "key": base / "locked.key"}
    subprocess.run(["openssl", "pkey", "-in", good["key"], "-aes128", "-passout", "pass:x", "-out", locked["key"]],
                   check=True)  # fmt: skip
    for options, words in (
        (own(good)[:2], "--tls-key"),
        (own(good)[2:], "--tls-cert"),
        (own({**good, "cert": base / "none.pem"}), "none.pem"),
        (own({**good, "key": other["key"]}), "not the key of"),
        (own({**good, "cert": good["key"]}), "no certificate in PEM"),
        (own({**good, "key": good["cert"]}), "no private key in PEM"),
        (own(locked), "without a passphrase"),
        (own(over), "is over"),
        (own(public), "can be read by everybody"),
    ):
        done = paddock("serve", "--listen", "127.0.0.1:0", *options)
        assert done.code in (1, 2) and words in done.err, done
    served = Daemon(paddock, *own(good), authority=good["cert"])
    assert served.stop() == 0, "the twin of all of them"


def test_server_toml_turns_it_on_and_the_command_line_off(paddock, settings):
    settings("tls = true\n")
    rows = {row["key"]: row for row in paddock("serve", "--explain", "--json").ok().json()}
    assert rows["tls"]["value"] == "on" and rows["tls"]["from"].endswith("server.toml:1")
    plain = Daemon(paddock, "--no-tls")
    assert plain.url.startswith("http://") and plain.request("GET", "/v2/sandboxes")[0] == 200
    assert plain.stop() == 0
    settings('tls_cert = "/etc/cert.pem"\ntls_key = "/etc/key.pem"\n')
    refused = paddock("tls", "ca")
    assert refused.code == 1 and "certificate of your own" in refused.err, refused
    settings('tls_cert = "cert.pem"\n')
    assert paddock("serve").code == 2


def test_a_key_that_others_can_read_ends_the_start(paddock, authority):
    key = os.path.join(os.path.dirname(authority), "key.pem")
    os.chmod(key, 0o644)
    done = paddock("serve", "--tls", "--listen", "127.0.0.1:0")
    assert done.code == 1 and "can be read by others" in done.err, done


def test_verbs_of_the_command_line_go_on_as_they_are(paddock, daemon):
    made = paddock("create").ok().out.strip()
    assert paddock("exec", made, "--", "echo", "inside").ok().out == "inside\n"
    paddock("kill", made).ok()
    assert PADDOCK.exists()
