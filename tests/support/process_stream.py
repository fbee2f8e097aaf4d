"""Commands of a live sandbox by raw envelopes, as they stream."""
import base64
import json
import socket

from support.program import PATIENCE


def envelope(message):
    body = json.dumps(message).encode()
    return b"\0" + len(body).to_bytes(4, "big") + body


class Stream:
    """The events of a process, as far as one wants to hear them."""

    def __init__(self, daemon, sandbox, method, message, headers=None):
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), PATIENCE)
        body = envelope(message)
        head = {
            "Host": "localhost",
            "E2b-Sandbox-Id": sandbox["sandboxID"],
            "E2b-Sandbox-Port": "49983",
            "X-Access-Token": sandbox["envdAccessToken"],
            "Content-Type": "application/connect+json",
            "Content-Length": len(body),
            **(headers or {}),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        self.socket.sendall(
            f"POST /process.Process/{method} HTTP/1.1\r\n{lines}\r\n".encode() + body
        )
        self.file = self.socket.makefile("rb")
        status = self.file.readline()
        assert b" 200 " in status, status
        while self.file.readline().strip():
            pass
        self.pending = b""
        self.out, self.pid, self.code, self.first = b"", None, None, None

    def _read(self, count):
        while len(self.pending) < count:
            size = int(self.file.readline() or b"0", 16)
            if size == 0:
                return None
            self.pending += self.file.read(size)
            self.file.readline()
        data, self.pending = self.pending[:count], self.pending[count:]
        return data

    def until(self, holds):
        """Reads on until it holds, or the end. Whether it holds."""
        while not holds():
            head = self._read(5)
            if head is None:
                return False
            message = json.loads(self._read(int.from_bytes(head[1:], "big")) or b"{}")
            assert "error" not in message, message
            event = message.get("event", {})
            if self.first is None and "sequence" in message:
                self.first = message["sequence"]
            self.pid = event.get("start", {}).get("pid", self.pid)
            self.out += base64.b64decode(event.get("data", {}).get("stdout", ""))
            self.code = event.get("end", {}).get("exitCode", 0) if "end" in event else self.code
        return True

    def close(self):
        self.file.close()
        self.socket.close()


def start(daemon, sandbox, script, tag=None, stdin=False, wait=""):
    """A command that runs on; its output up to the words."""
    message = {"process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": stdin}
    if tag:
        message["tag"] = tag
    stream = Stream(daemon, sandbox, "Start", message)
    assert stream.until(lambda: stream.pid is not None and wait.encode() in stream.out)
    return stream


def run(daemon, sandbox, script):
    stream = start(daemon, sandbox, script)
    assert stream.until(lambda: stream.code is not None)
    stream.close()
    return stream.out.decode(), stream.code


def replay(daemon, sandbox, selector, first=0):
    return Stream(
        daemon, sandbox, "Connect", {"process": selector}, {"X-Paddock-Output-From": first}
    )
