"""What a stream pays at the gate: passed through, and looked into, against none and against other proxies."""
import json
import shutil
import socket
import subprocess
import threading
import time

from .measure import Row, in_turn
from .world import SOURCE

ROUNDS = 7
BULK = 1_000_000_000
FILE = 200_000_000
CONNECTS = 400
HELD = 1000
BIN = SOURCE / "build" / "bin"
# The host's loopback, by an administrator's rule; its paths make the gate look inside.
PASSES = "action=allow;hosts=a.example;addresses=127.0.0.1;ports=*"
LOOKS = "action=allow;hosts=b.example;addresses=127.0.0.1;ports=*;methods=GET"


class Running:
    """A program that ends with the block; `lines` are what it printed until `ready` was among them."""

    def __init__(self, argv, ready=None, **how):
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, **how)
        self.lines = []
        while ready is not None:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{argv[0]} did not start")
            self.lines.append(line)
            if ready in line:
                break
        # A gate that nobody listens to stands still.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()


def gate(world, port):
    """At one address a host that is passed through, at another one that is looked into."""
    return Running([BIN / "gate_listener", "--state", world.folder("network/state"), "--trust",
                    world.top / "network" / "server.pem", "--map", "a.example=127.0.0.1", "--map",
                    "b.example=127.0.0.1", "--rule", PASSES, "--rule", LOOKS, "--listen", f"a.example:{port}",
                    "--listen", f"b.example:{port}"], ready='"ready"')


def address_of(running, host="a.example"):
    documents = [json.loads(line) for line in running.lines]
    return next(d["at"] for d in documents if d.get("listen") == host)


def resident_kib(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def load(*args):
    return float(subprocess.run([str(BIN / "gate_load"), *map(str, args)], capture_output=True, check=True,
                                text=True).stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nobody listens on {port}")


def rows(world):
    if not (BIN / "gate_listener").exists():
        yield Row.missing("gate", "gate_listener is not built")
        return
    folder = world.folder("network")
    certificate(folder)
    yield from raw_rows(world)
    yield from tls_rows(world, folder)


def raw_rows(world):
    with Running([BIN / "gate_load", "serve"], ready="\n") as server:
        port = int(server.lines[0])
        with gate(world, port) as ours:
            at = address_of(ours)
            bulk = in_turn({"gate": lambda: BULK / load("bulk", at, port, BULK),
                            "direct": lambda: BULK / load("bulk", "127.0.0.1", port, BULK)}, ROUNDS)
            yield Row.ratio("gate, passed through: 1 GB / direct", bulk["gate"], bulk["direct"], 1 / 0.6, "direct")
            connect = in_turn({"gate": lambda: load("connect", at, port, CONNECTS),
                               "direct": lambda: load("connect", "127.0.0.1", port, CONNECTS)}, ROUNDS)
            added = connect["gate"].median - connect["direct"].median
            yield Row("gate: added to a new connection, median", f"{added:7.0f} us", "<= 1000 us", added <= 1000)
            before = resident_kib(ours.process)
            with Running([BIN / "gate_load", "hold", at, port, HELD], ready="ready"):
                each = (resident_kib(ours.process) - before) / HELD
            yield Row(f"gate: memory of one of {HELD} open connections", f"{each:7.1f} KiB")


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", folder / "server.key", "-out", folder / "server.pem", "-subj", "/CN=a.example",
                    "-addext", "subjectAltName=DNS:a.example,DNS:b.example", "-days", "2"], check=True, capture_output=True)


def fetch(port, trust, *options, host="a.example"):
    started = time.monotonic()
    done = subprocess.run(["curl", "-sS", "--http1.1", "-o", "/dev/null", "-w", "%{size_download}", "--cacert",
                           str(trust), *options, f"https://{host}:{port}/file"], capture_output=True, text=True)
    if done.stdout != str(FILE):
        raise RuntimeError(f"curl: {done.stderr} {done.stdout}")
    return time.monotonic() - started


def tls_rows(world, folder):
    """A file of 200 MB by HTTPS: direct, through the gate either way, and through mitmproxy either way."""
    with open(folder / "file", "wb") as file:
        file.truncate(FILE)
    port, trust = free_port(), folder / "server.pem"
    server = ["openssl", "s_server", "-quiet", "-WWW", "-accept", f"127.0.0.1:{port}", "-key", "server.key", "-cert",
              "server.pem"]
    with Running(server, cwd=folder), gate(world, port) as ours:
        wait_for(port)
        authority = folder / "gate.pem"
        authority.write_text(next(json.loads(l)["authority"] for l in ours.lines if '"authority"' in l))

        def at(address, host="a.example"):
            return "--resolve", f"{host}:{port}:{address}"

        candidates = {
            "direct": lambda: fetch(port, trust, *at("127.0.0.1")),
            "passed": lambda: fetch(port, trust, *at(address_of(ours))),
            "looked": lambda: fetch(port, authority, *at(address_of(ours, "b.example"), "b.example"),
                                    host="b.example"),
        }
        peers = []
        try:
            peers, more = mitmproxies(folder, port, trust)
            candidates.update(more)
        except RuntimeError as error:
            yield Row.missing("gate / mitmproxy", str(error))
        try:
            times = in_turn(candidates, ROUNDS)
        finally:
            for peer in peers:
                peer.__exit__()
    yield Row.ratio("gate, TLS passed through: 200 MB / direct", times["passed"], times["direct"], 1 / 0.6, "direct")
    yield Row.ratio("gate, TLS looked into: 200 MB / direct", times["looked"], times["direct"], None, "direct")
    if "mitm passed" in times:
        yield Row.ratio("gate, TLS passed through / mitmproxy", times["passed"], times["mitm passed"], 1 / 5,
                        "mitmproxy")
        yield Row.ratio("gate, TLS looked into / mitmproxy", times["looked"], times["mitm looked"], 1 / 3, "mitmproxy")


def mitmproxies(folder, port, trust):
    if shutil.which("mitmdump") is None:
        raise RuntimeError("mitmdump is not installed")
    hosts = ["--set", f"confdir={folder}/mitm", "-q", "--set", f"ssl_verify_upstream_trusted_ca={trust}"]
    one, two = free_port(), free_port()
    passing = Running(["mitmdump", *hosts, "-p", one, "--ignore-hosts", ".*"])
    looking = Running(["mitmdump", *hosts, "-p", two, "--set", "stream_large_bodies=1m"])
    wait_for(one)
    wait_for(two)
    # A proxy is asked for a name; the address is the server's.
    direct = ["--connect-to", f"a.example:{port}:127.0.0.1:{port}"]
    return [passing, looking], {
        "mitm passed": lambda: fetch(port, trust, "-x", f"http://127.0.0.1:{one}", *direct),
        "mitm looked": lambda: fetch(port, folder / "mitm" / "mitmproxy-ca-cert.pem", "-k", "-x",
                                     f"http://127.0.0.1:{two}", *direct),
    }
