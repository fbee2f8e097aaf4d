"""`paddock serve` against docker: what a client waits for, over raw HTTP on one connection, as an SDK would."""
import base64
import http.client
import json
import re
import signal
import subprocess
import time

from .measure import Command, Row, Times, in_turn
from .memory import private_kib
from .peers import Docker, make_bundle

ROUNDS = 30
POOL = 6
LIVE = 200
BIG = 100 << 20
FILES, FOLDERS = 200_000, 1000


class Server:
    """A `paddock serve` of the bench's own, with `pool` warm sandboxes."""

    def __init__(self, world, who, pool=0):
        self.world, self.who = world, who
        env = world.environment(who)
        settings = world.folder(f"{who}/.config/paddock") / "server.toml"
        settings.write_text(f"[pool]\nbase = {pool}\n")
        self.log = open(world.top / f"{who}.log", "wb")
        argv = [world.top / "bin" / "paddock", "serve", "--listen", "127.0.0.1:0", "--kill-on-exit"]
        self.process = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        if not found:
            raise RuntimeError("paddock serve did not start")
        self.connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=120)
        self.pool = pool

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()

    def request(self, method, path, body=None, **headers):
        if isinstance(body, dict):
            body, headers = json.dumps(body), {"Content-Type": "application/json", **headers}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, {"X-API-Key": "bench", **named})
        response = self.connection.getresponse()
        data = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {data[:200]}")
        return data

    def create(self):
        return json.loads(
            self.request("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 3600})
        )

    def kill(self, made):
        self.request("DELETE", f"/sandboxes/{made['sandboxID']}")

    def inside(self, made, method, path, body=None, **headers):
        named = {"E2b_Sandbox_Id": made["sandboxID"], "E2b_Sandbox_Port": "49983",
                 "X_Access_Token": made["envdAccessToken"]}  # fmt: skip
        return self.request(method, path, body, **named, **headers)

    def run(self, made, script):
        body = json.dumps(
            {"process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": False}
        ).encode()
        data = self.inside(made, "POST", "/process.Process/Start",
                           b"\0" + len(body).to_bytes(4, "big") + body,
                           Content_Type="application/connect+json")  # fmt: skip
        out, code = b"", None
        while data:
            size = int.from_bytes(data[1:5], "big")
            event, data = json.loads(data[5 : 5 + size]).get("event", {}), data[5 + size :]
            out += base64.b64decode(event.get("data", {}).get("stdout", ""))
            code = event.get("end", {}).get("exitCode", 0) if "end" in event else code
        if code != 0:
            raise RuntimeError(f"{script}: status {code}")
        return out

    def ready(self):
        found = re.search(
            r'paddock_pool_ready\{template="base"\} (\d+)', self.request("GET", "/metrics").decode()
        )
        return int(found[1]) if found else 0

    def first_answer(self):
        """Seconds from asking for a sandbox to the answer of its first command; it is killed off the clock."""
        end = time.monotonic() + 60
        while self.pool and self.ready() == 0 and time.monotonic() < end:
            time.sleep(0.02)
        started = time.monotonic()
        made = self.create()
        self.run(made, "true")
        took = time.monotonic() - started
        self.kill(made)
        return took


def seconds(work, *args, **named):
    started = time.monotonic()
    work(*args, **named)
    return time.monotonic() - started


def write(server, made, path, data):
    server.inside(made, "POST", f"/files?path={path}&username=user", data,
                  Content_Type="application/octet-stream")  # fmt: skip


def read(server, made, path):
    return server.inside(made, "GET", f"/files?path={path}&username=user")


def rows(world):
    if not world.is_root:
        yield Row.missing("paddock serve / docker", "docker needs root")
        return
    docker = Docker(world, make_bundle(world))
    try:
        with Server(world, "serve-cold") as cold, Server(world, "serve-warm", POOL) as warm:
            yield from first_answers(cold, warm, docker)
            yield from commands_and_files(world, cold, docker)
            yield from forks(cold, docker)
            yield from many(cold)
    finally:
        docker.stop()


def first_answers(cold, warm, docker):
    times = in_turn(
        {"miss": cold.first_answer, "hit": warm.first_answer, "docker": docker.command()}, ROUNDS, 2
    )
    yield Row.ratio(
        "create -> first answer, miss / docker run --rm",
        times["miss"],
        times["docker"],
        1 / 10,
        "docker",
    )
    yield Row.ratio(
        "create -> first answer, warm hit / docker run --rm",
        times["hit"],
        times["docker"],
        1 / 40,
        "docker",
    )


def commands_and_files(world, server, docker):
    made = server.create()
    name = docker.start()
    small, big = world.top / "small", world.top / "big"
    small.write_bytes(b"x" * 1024)
    big.write_bytes(b"\0" * BIG)
    run = lambda: seconds(server.run, made, "true")  # noqa: E731
    times = in_turn({"ours": run, "docker": docker.does("exec", name, "/bin/true")}, ROUNDS)
    yield Row.ratio(
        "command in a live sandbox / docker exec",
        times["ours"],
        times["docker"],
        1 / 10,
        "docker exec",
    )
    for what, file, rounds in (("1 KB", small, ROUNDS), ("100 MB", big, 3)):
        data = file.read_bytes()
        place = f"/home/user/{file.name}"
        times = in_turn(
            {
                "ours": lambda: seconds(write, server, made, place, data),
                "docker": docker.does("cp", str(file), f"{name}:/{file.name}"),
            },
            rounds,
        )
        yield Row.ratio(
            f"write {what} / docker cp", times["ours"], times["docker"], None, "docker cp"
        )
        times = in_turn(
            {
                "ours": lambda: seconds(read, server, made, place),
                "docker": docker.does("cp", f"{name}:/{file.name}", str(world.top / "out")),
            },
            rounds,
        )
        yield Row.ratio(
            f"read {what} / docker cp", times["ours"], times["docker"], None, "docker cp"
        )
    server.kill(made)
    docker.does("rm", "-f", name).seconds()


TREE = f"cd %s && for i in $(seq {FOLDERS}); do mkdir d$i; (cd d$i && seq {FILES // FOLDERS} | xargs touch); done"


def forks(server, docker):
    """Of what wrote a tree of 200k files: the fork's first answer, against commit and run."""
    made = server.create()
    name = docker.start()
    server.run(made, TREE % "/home/user")
    docker.does("exec", name, "/bin/sh", "-c", TREE % "/").seconds()

    def fork():
        server.connection.close()  # docker takes longer than the server keeps it open
        started = time.monotonic()
        answer = json.loads(
            server.request("POST", f"/sandboxes/{made['sandboxID']}/fork", {"count": 1})
        )
        child = answer[0]["sandbox"]
        server.run(child, "test -e /home/user/d1/1")
        took = time.monotonic() - started
        server.kill(child)
        return took

    commit = [docker.does("commit", name, "paddock-bench-fork"),
              docker.does("run", "--rm", "--network", "none", "paddock-bench-fork", "/bin/true")]  # fmt: skip
    times = in_turn({"ours": fork, "docker": commit}, 3)
    yield Row.ratio(
        "fork with 200k files / docker commit + run",
        times["ours"],
        times["docker"],
        1 / 20,
        "docker",
    )
    server.kill(made)
    docker.does("rm", "-f", name).seconds()


def agents_below(pid):
    """Every process that `pid` started, and theirs."""
    children = {}
    for line in subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True
    ).stdout.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def many(server):
    started = time.monotonic()
    made = [server.create() for _ in range(LIVE)]
    rate = LIVE / (time.monotonic() - started)
    kib = []
    for pid in agents_below(server.process.pid):
        try:
            kib.append(private_kib(pid))
        except OSError:
            pass  # it has just ended
    each = sum(kib) / LIVE
    yield Row(f"{LIVE} live sandboxes, private memory of each", f"{each:.0f} KiB; made {rate:.1f}/s, one client",
              "<= 4096 KiB", each <= 4096)  # fmt: skip
    times = Times([seconds(server.run, one, "true") for one in made[:: LIVE // ROUNDS]])
    yield Row(
        "  a command in one of them", f"{times.median * 1e3:.1f} ms, p90 {times.p90 * 1e3:.1f}"
    )
    for one in made:
        server.kill(one)
