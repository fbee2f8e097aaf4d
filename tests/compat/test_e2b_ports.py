"""Ports of sandboxes through the daemon's listener: by header, by host name, HTTP, streams and raw upgrades."""
import http.client
import json
import socket
import time

import pytest
from support.daemon import Daemon
from support.program import PATIENCE
from support.sdk import Sdk, installed

# Says what it got; /slow streams, /until sends until the end, /break stops short; upgrades echo.
SERVER = r"""
import http.server, json, sys, time
class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def serve(self):
        body = b""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size); self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Upgrade"):
            self.connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ")
            while data := self.rfile.read1(65536): self.connection.sendall(data)
            self.connection.sendall(b" bye")
            self.close_connection = True
            return
        if self.path == "/slow":
            self.send_response(200); self.send_header("Transfer-Encoding", "chunked"); self.end_headers()
            for i in range(3):
                self.wfile.write(b"2\r\n%d\n\r\n" % i); self.wfile.flush(); time.sleep(0.3)
            return self.wfile.write(b"0\r\n\r\n")
        if self.path == "/until":
            self.close_connection = True
            return self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 300000)
        if self.path == "/break":
            self.close_connection = True
            return self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        if self.path == "/garbage":
            self.close_connection = True
            return self.wfile.write(b"SSH-2.0-x\r\n\r\n")
        if self.path == "/empty":
            self.send_response(304); self.send_header("ETag", "e"); self.end_headers(); return
        out = json.dumps({"path": self.path, "method": self.command, "size": len(body),
                          "headers": [[k.lower(), v] for k, v in self.headers.items()]}).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", "a=1"); self.send_header("Set-Cookie", "b=2")
        self.send_header("Keep-Alive", "timeout=5"); self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(out)
    do_GET = do_POST = do_PUT = do_HEAD = serve
    def log_message(self, *a): pass
import socket
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
Server((sys.argv[1], int(sys.argv[2])), Web).serve_forever()
"""
PRELUDE = """
import { Sandbox } from 'e2b'
async function serve(s, port, address = '127.0.0.1') {
  await s.files.write('server.py', SOURCE)
  await s.commands.run(`python3 server.py ${address} ${port}`, { background: true })
  for (let i = 0; ; ++i) {
    const there = await s.commands.run(`python3 -c "import socket; socket.create_connection(('${address}', ${port}))"`)
      .catch(() => null)
    if (there) return
    assert.ok(i < 50)
    await new Promise(r => setTimeout(r, 100))
  }
}
const base = process.env.E2B_SANDBOX_URL
const headers = (s, port, more = {}) => ({ 'e2b-sandbox-id': s.sandboxId, 'e2b-sandbox-port': String(port), ...more })
const get = (s, port, path = '/', options = {}) =>
  fetch(base + path, { ...options, headers: headers(s, port, options.headers) })
const of = (seen, name) => seen.headers.filter(h => h[0] === name).map(h => h[1])
""".replace("SOURCE", json.dumps(SERVER))


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock, "--egress", "none")
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def sdk(daemon):
    return Sdk(installed("e2b@2.51.0"), daemon, prelude=PRELUDE)


def test_a_server_inside_answers_by_header_and_by_name(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3000)
    const seen = await (await get(s, 3000, '/a?b=%20c')).json()
    assert.equal(seen.path, '/a?b=%20c')
    const host = s.getHost(3000)
    assert.equal(host, `3000-${s.sandboxId}.localhost:${new URL(base).port}`)
    // The name by a resolver that knows localhost, as browsers and curl do.
    const byName = await new Promise((resolve, reject) => http.get(
      { host: '127.0.0.1', port: new URL(base).port, path: '/n', headers: { host } }, response => {
        let text = ''
        response.on('data', d => text += d).on('end', () => resolve(JSON.parse(text)))
      }).on('error', reject))
    assert.equal(byName.path, '/n')
    assert.deepEqual(of(byName, 'host'), [host])
    await s.kill()
    """)


def test_heads_lose_what_is_of_the_connection_alone(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3000)
    const response = await get(s, 3000, '/', { headers: { 'x-own': '1', 'x-forwarded-for': '6.6.6.6', te: 'trailers' } })
    const seen = await response.json()
    assert.deepEqual(of(seen, 'x-own'), ['1'])
    assert.deepEqual(of(seen, 'x-forwarded-for'), ['127.0.0.1'])
    assert.deepEqual(of(seen, 'x-forwarded-host'), [new URL(base).host])
    for (const gone of ['te', 'keep-alive', 'e2b-sandbox-id', 'e2b-sandbox-port']) assert.deepEqual(of(seen, gone), [], gone)
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.notEqual(response.headers.get('keep-alive'), 'timeout=5')
    assert.equal((await get(s, 3000, '/', { method: 'HEAD' })).status, 200)
    assert.equal((await get(s, 3000, '/empty')).status, 304)
    assert.equal((await get(s, 3000, '/after')).status, 200)
    await s.kill()
    """)


def test_bodies_stream_both_ways(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3000)
    const big = Buffer.alloc(5_000_000, 'x')
    assert.equal((await (await get(s, 3000, '/', { method: 'POST', body: big })).json()).size, big.length)
    async function * pieces() { for (let i = 0; i < 50; ++i) yield big.subarray(0, 100_000) }
    const chunked = await get(s, 3000, '/', { method: 'POST', body: ReadableStream.from(pieces()), duplex: 'half' })
    assert.equal((await chunked.json()).size, 5_000_000)
    assert.equal((await (await get(s, 3000, '/until')).text()).length, 300_000)
    const slow = await get(s, 3000, '/slow')
    const times = []
    for await (const piece of slow.body) times.push(Date.now())
    assert.ok(times.at(-1) - times[0] > 300, 'pieces come as they are sent')
    await assert.rejects(async () => (await get(s, 3000, '/break')).text(), 'what breaks off does not look whole')
    const many = await Promise.all(Array.from({ length: 40 }, (_, i) => get(s, 3000, `/${i}`).then(r => r.json())))
    assert.deepEqual(many.map(x => x.path), Array.from({ length: 40 }, (_, i) => `/${i}`))
    await s.kill()
    """)


def test_upgrades_become_raw_streams_whose_halves_end_by_themselves(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3000)
    const { hostname, port } = new URL(base)
    const socket = net.connect({ host: hostname, port, allowHalfOpen: true })
    socket.write(`GET /ws HTTP/1.1\\r\\nHost: ${s.getHost(3000)}\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\nfirst `)
    let text = ''
    socket.on('data', d => text += d)
    const ended = new Promise((resolve, reject) => socket.on('end', resolve).on('error', reject))
    socket.write('second')
    while (!text.includes('second')) await new Promise(r => setTimeout(r, 20))
    socket.end()
    await ended
    assert.match(text, /^HTTP\\/1\\.1 101 /)
    assert.match(text, /\\r\\n\\r\\nhello first second bye$/)
    await s.kill()
    """)


def test_closed_ports_and_gone_sandboxes_answer_as_clients_know_it(sdk):
    sdk("""
    const s = await Sandbox.create()
    const closed = await get(s, 4999)
    assert.equal(closed.status, 502)
    assert.deepEqual(await closed.json(), { sandboxId: s.sandboxId,
      message: 'The sandbox is running but port is not open', port: 4999, code: 502 })
    await serve(s, 3000)
    assert.equal((await get(s, 3000, '/garbage')).status, 502)
    await s.kill()
    const gone = await get(s, 3000)
    assert.equal(gone.status, 502)
    assert.deepEqual(await gone.json(), { sandboxId: s.sandboxId, message: 'The sandbox was not found', code: 502 })
    """)


def test_a_server_on_the_other_loopback_is_reached_too(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3001, '::1')
    assert.equal((await get(s, 3001)).status, 200)
    await s.kill()
    """)


def test_ports_ask_for_the_token_where_traffic_is_not_public(sdk):
    sdk("""
    const s = await Sandbox.create({ network: { allowPublicTraffic: false } })
    await serve(s, 3000)
    assert.ok(s.trafficAccessToken)
    assert.equal((await get(s, 3000)).status, 403)
    assert.equal((await get(s, 3000, '/', { headers: { 'e2b-traffic-access-token': 'wrong' } })).status, 403)
    const let_in = await get(s, 3000, '/', { headers: { 'e2b-traffic-access-token': s.trafficAccessToken } })
    assert.equal(let_in.status, 200)
    assert.deepEqual(of(await let_in.json(), 'e2b-traffic-access-token'), [], 'the program does not see it')
    const open = await Sandbox.create()
    assert.ok(!open.trafficAccessToken)
    await serve(open, 3000)
    assert.equal((await get(open, 3000)).status, 200)
    await Promise.all([s.kill(), open.kill()])
    """)


def test_programs_see_the_host_that_was_asked_for(sdk):
    sdk("""
    const s = await Sandbox.create({ network: { maskRequestHost: 'inside-${PORT}.test' } })
    await serve(s, 3000)
    const seen = await (await get(s, 3000)).json()
    assert.deepEqual(of(seen, 'host'), ['inside-3000.test'])
    assert.deepEqual(of(seen, 'x-forwarded-host'), [new URL(base).host])
    await s.kill()
    """)


def test_the_tokens_of_a_sandbox_do_not_enter_it(sdk):
    sdk("""
    const s = await Sandbox.create()
    await serve(s, 3000)
    const token = s.envdAccessToken ?? s.connectionConfig?.headers?.['X-Access-Token']
    const info = await (await fetch(`${base}/sandboxes/${s.sandboxId}`, { headers: { 'x-api-key': 'k' } })).json()
    const seen = await (await get(s, 3000, '/', { headers: { 'x-access-token': info.envdAccessToken } })).json()
    assert.deepEqual(of(seen, 'x-access-token'), [])
    const own = await (await get(s, 3000, '/', { headers: { 'x-access-token': 'of the program' } })).json()
    assert.deepEqual(of(own, 'x-access-token'), ['of the program'])
    await s.kill()
    """)


def test_pages_of_a_sandbox_reach_nothing_but_sandboxes(daemon):
    sandbox = daemon.create()["sandboxID"]
    page = f"http://3000-{sandbox}.localhost:{daemon.port}"
    for method, path in (("GET", "/v2/sandboxes"), ("POST", "/v2/sandboxes"), ("OPTIONS", "/v2/sandboxes")):
        assert daemon.request(method, path, headers={"Origin": page})[0] == 403
    assert daemon.request("GET", "/v2/sandboxes")[0] == 200, "without the page it is served"


def test_a_client_that_leaves_frees_the_port(daemon):
    """A program that never answers does not keep what nobody waits for."""
    sandbox = daemon.create()
    body = {"process": {"cmd": "/usr/bin/python3", "args": ["-c", (
        "import socket\ns=socket.create_server(('127.0.0.1',3000))\n"
        "c,_=s.accept(); c.recv(100); c.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')\n"
        "while True: c.sendall(b'x'*1000)\n")]}, "stdin": False}
    data = json.dumps(body).encode()
    stream = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE)
    stream.request("POST", "/process.Process/Start", b"\0" + len(data).to_bytes(4, "big") + data, {
        "E2b-Sandbox-Id": sandbox["sandboxID"], "X-Access-Token": sandbox["envdAccessToken"],
        "Content-Type": "application/connect+json"})
    answer = stream.getresponse()
    answer.read1(100)
    until = time.monotonic() + PATIENCE  # for the program to listen
    while True:
        client = socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE)
        client.sendall(b"GET / HTTP/1.1\r\nHost: 3000-%s.localhost\r\n\r\n" % sandbox["sandboxID"].encode())
        first = client.recv(12)
        client.close()
        if first == b"HTTP/1.1 200" or time.monotonic() > until:
            break
        time.sleep(0.05)
    assert first == b"HTTP/1.1 200"
    # The program's write fails, which ends it, and with it the stream of its output.
    answer.read()
    stream.close()
