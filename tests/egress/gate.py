"""The gate_listener program, servers, and certificates for them."""
import json
import os
import queue
import socket
import ssl
import subprocess
import threading
from pathlib import Path

LISTENER = os.environ.get("GATE_LISTENER", "build-dev/bin/gate_listener")


class Gate:
    """A running gate. `at[name]` is the address that stands for the host, on the host's port."""

    def __init__(self, folder, rules=(), credentials=(), trust=None, names=(), listen=()):
        self.folder = Path(folder)
        command = [LISTENER, "--state", str(self.folder / "state")]
        if trust:
            command += ["--trust", str(trust)]
        for name in names:
            command += ["--map", f"{name}=127.0.0.1"]
        for rule in rules:
            command += ["--rule", rule]
        for credential in credentials:
            command += ["--credential", credential]
        for name, port in listen:
            command += ["--listen", f"{name}:{port}"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            # An instrumented build must not keep what was freed: a test looks at its memory.
            env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"},
        )
        self.at, self.environment, self.lines = {}, {}, queue.Queue()
        self.authority = self.folder / "gate-authority.pem"
        self._read_until_ready()
        threading.Thread(target=self._read_events, daemon=True).start()

    def _read_until_ready(self):
        for line in self.process.stdout:
            document = json.loads(line)
            if "authority" in document:
                self.authority.write_text(document["authority"])
            elif "env" in document:
                self.environment[document["env"]] = document["value"]
            elif "listen" in document:
                self.at[document["listen"]] = document["at"]
            elif "ready" in document:
                return
        raise AssertionError("the gate did not start")

    def _read_events(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def event(self, timeout=20):
        return self.lines.get(timeout=timeout)

    def event_where(self, **fields):
        while True:
            event = self.event()
            if all(event.get(key) == value for key, value in fields.items()):
                return event

    def resolve(self, name):
        self.process.stdin.write(f"resolve {name}\n")
        self.process.stdin.flush()
        while True:
            document = self.event()
            if "resolve" in document:
                return document

    def close(self):
        self.process.stdin.close()
        try:
            assert self.process.wait(timeout=30) == 0
        finally:
            self.process.kill()


def make_authority(folder):
    """An authority for the servers of the tests: (certificate, key)."""
    certificate, key = folder / "servers.pem", folder / "servers.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", key, "-out", certificate, "-subj", "/CN=servers of the tests", "-days", "30"],
        check=True, capture_output=True,
    )
    return certificate, key


def make_leaf(folder, authority, host):
    """(chain, key) of a server that is `host`."""
    certificate, authority_key = authority
    key, request, leaf = (folder / f"{host}.{end}" for end in ("key", "csr", "pem"))
    subprocess.run(
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", request, "-subj", f"/CN={host}"],
        check=True, capture_output=True,
    )
    extensions = folder / f"{host}.ext"
    extensions.write_text(f"subjectAltName=DNS:{host}\n")
    subprocess.run(
        ["openssl", "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", authority_key, "-out", leaf,
         "-days", "30", "-extfile", extensions],
        check=True, capture_output=True,
    )
    return leaf, key


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def server_context(leaf, protocols=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*leaf)
    if protocols:
        context.set_alpn_protocols(protocols)
    return context
