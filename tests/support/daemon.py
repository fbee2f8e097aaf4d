"""A real `paddock serve` of one test."""
import base64
import http.client
import json
import re
import signal
import ssl
import subprocess

from support.host_tools import quick_tools
from support.program import PADDOCK, PATIENCE


class Daemon:
    """Ends all its sandboxes with itself, unless it is `leased`. `wrap` makes of its command line one that runs
    it in another world (Internet.wrap), in which its port is. One that speaks TLS is trusted by `authority`, a
    file. With `real_tools` it asks the machine's own package tools for their registries."""

    def __init__(
        self,
        paddock,
        *options,
        listen="127.0.0.1:0",
        leased=False,
        env=None,
        wrap=lambda argv: argv,
        authority=None,
        real_tools=False,
    ):
        self.log = paddock.base / "serve.log"
        path = paddock.env["PATH"]
        tools = {"PATH": path if real_tools else f"{quick_tools()}:{path}"}
        options = options if leased else ("--kill-on-exit", *options)
        self.process = subprocess.Popen(
            wrap([PADDOCK, "serve", "--listen", listen, *options]),
            env={**paddock.env, **tools, **(env or {})},
            cwd=paddock.base,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log.open("ab"),
            text=True,
        )
        line = self.process.stdout.readline()
        found = re.search(r"https?://[0-9.]+:(\d+)", line)
        assert found, f"no address in: {line} {self.log.read_text()}"
        self.port = int(found[1])
        self.url = found[0]
        self.tls = ssl.create_default_context(cafile=authority) if authority else None

    def stop(self):
        """As a person or an init system ends it. Returns its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def request(self, method, path, body=None, headers=None):
        """Status, parsed JSON (or bytes) and headers of one request on a connection of its own."""
        where = {"host": "127.0.0.1", "port": self.port, "timeout": PATIENCE}
        if self.tls:
            connection = http.client.HTTPSConnection(**where, context=self.tls)
        else:
            connection = http.client.HTTPConnection(**where)
        sent = {"X-API-Key": "any", **(headers or {})}
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.headers.get("Content-Type") == "application/json":
            data = json.loads(data)
        return response.status, data, response.headers

    def create(self, **fields):
        status, made, _ = self.request("POST", "/v2/sandboxes", {"templateID": "base", **fields})
        assert status == 201, made
        return made

    def inside(self, sandbox, method, path, body=None, headers=None):
        """A request to envd of that sandbox."""
        return self.request(
            method,
            path,
            body,
            {
                "E2b-Sandbox-Id": sandbox["sandboxID"],
                "E2b-Sandbox-Port": "49983",
                "X-Access-Token": sandbox["envdAccessToken"],
                **(headers or {}),
            },
        )

    def start(self, sandbox, script):
        """stdout and exit code of a command, by raw envelopes."""
        body = json.dumps({"process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": False})
        status, data, _ = self.inside(
            sandbox,
            "POST",
            "/process.Process/Start",
            b"\0" + len(body).to_bytes(4, "big") + body.encode(),
            {"Content-Type": "application/connect+json"},
        )
        assert status == 200
        out, code = b"", None
        while data:
            length = int.from_bytes(data[1:5], "big")
            message = json.loads(data[5 : 5 + length])
            data = data[5 + length :]
            assert "error" not in message, message
            event = message.get("event", {})
            out += base64.b64decode(event.get("data", {}).get("stdout", ""))
            code = event.get("end", {}).get("exitCode", code)
        return out, code
