#!/usr/bin/python3
"""Runs the unit tests of many projects that nobody has read, each in a sandbox of its own.

batch.py [--json] [--jobs N] [--timeout SECONDS] PROJECT…

Speaks to a running `paddock serve` through the socket of its PADDOCK_HOME (docs/surface.md). A status of 0 is
the project's own word: its tests could say anything. What holds is that they harmed nothing and ended in time.
"""
import argparse
import base64
import http.client
import io
import json
import os
import socket
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote


def daemon_socket():
    of_user = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "paddock"
    default = "/var/lib/paddock" if os.geteuid() == 0 else of_user
    return str(Path(os.environ.get("PADDOCK_HOME") or default) / "run" / "paddock.sock")


class Daemon(http.client.HTTPConnection):
    """HTTP over the socket."""

    def __init__(self):
        super().__init__("localhost")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.connect(daemon_socket())
        except OSError as error:
            sys.exit(f"no `paddock serve` at {daemon_socket()}: {error.strerror}")


def ask(method, path, body=None):
    """The response; an error is what the daemon says about it."""
    daemon = Daemon()
    sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
    daemon.request(method, f"/paddock/v1{path}", sent, {"Content-Type": kind})
    response = daemon.getresponse()
    if response.status < 300:
        return response
    error = json.load(response)["error"]
    raise RuntimeError(f"{error['message']} ({error.get('remedy', 'no remedy')})")


class Sandbox:
    """Lives as long as its `with` block, and a minute longer than its commands may take at most."""

    def __init__(self, seconds, **metadata):
        wanted = {"timeout_s": seconds + 60, "metadata": metadata}
        self.path = f"/sandboxes/{json.load(ask('POST', '/sandboxes', wanted))['id']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ask("DELETE", self.path).read()

    def write(self, path, data):
        ask("PUT", f"{self.path}/files?path={quote(path)}", data).read()

    def run(self, *argv, seconds):
        """Output and outcome of a command; docs/outcome.md."""
        wanted = {"argv": argv, "timeout_ms": seconds * 1000, "on_leave": "kill"}
        output = b""
        for line in ask("POST", f"{self.path}/exec", wanted):
            event = json.loads(line)
            if event["event"] == "output":
                output += base64.b64decode(event["data"])
            if event["event"] == "ended":
                return output.decode(errors="replace"), event["outcome"]
        raise RuntimeError("the sandbox ended under its command")

    def denials(self):
        return json.load(ask("GET", f"{self.path}/denials"))["denials"]


def packed(project):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(project, arcname="project")
    return data.getvalue()


def test(project, seconds):
    with Sandbox(seconds, project=project.name) as sandbox:
        sandbox.write("project.tar", packed(project))
        script = "tar -xf project.tar && cd project && exec python3 -m unittest -q"
        output, outcome = sandbox.run("sh", "-c", script, seconds=seconds)
        passed = outcome["ending"] == "exited" and outcome["code"] == 0
        ended = {"exited": "passed" if passed else "failed"}.get(outcome["ending"], outcome["ending"])
        return {
            "project": project.name,
            "result": ended.replace("_", " "),
            "milliseconds": outcome["usage"]["wall_us"] // 1000,
            "refused": [f"{denial['kind']} {denial['what']}" for denial in sandbox.denials()],
            "last_line": output.strip().splitlines()[-1:],
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("projects", type=Path, nargs="+")
    args = parser.parse_args()
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda project: test(project, args.timeout), args.projects))
    if args.json:
        json.dump(results, sys.stdout, indent=2)
    else:
        for one in results:
            line = printable(" ".join(one["last_line"]))
            print(f"{one['project']:12} {one['result']:10} {one['milliseconds']:6} ms  {line}")
            for refused in one["refused"]:
                print(f"{'':12} refused: {printable(refused)}")
    sys.exit(any(one["result"] != "passed" for one in results))


def printable(text):
    """Bytes of a sandbox do not steer our terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)[:100]


main()
