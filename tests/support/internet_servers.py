"""The servers of support.internet, in a network namespace of their own. One argument: JSON."""
import base64
import hashlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

CONFIG = json.loads(sys.argv[1])
LOG = open(CONFIG["log"], "a")
LOCK = threading.Lock()
SERVER, INSIDE_ADDRESS = "11.0.0.1", "10.9.9.9"
ALL = "0.0.0.0"


def note(kind, **fields):
    with LOCK:
        LOG.write(json.dumps({"kind": kind, **fields}) + "\n")
        LOG.flush()


class Dns(socketserver.BaseRequestHandler):
    """Answers A; everything else is empty. Notes each question, case kept."""

    asked = {}

    def handle(self):
        packet, reply = self.request
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1 : at + 1 + packet[at]].decode("latin-1"))
            at += 1 + packet[at]
        kind = struct.unpack("!H", packet[at + 1 : at + 3])[0]
        name = ".".join(labels).lower()
        note("dns", name=name, type=kind)
        addresses = self.addresses_of(name) if kind == 1 else []
        known = name in CONFIG["hosts"] or addresses
        answers = b"".join(
            b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(a) for a in addresses
        )
        head = packet[:2] + struct.pack("!HHHHH", 0x8180 | (0 if known else 3), 1, len(addresses), 0, 0)
        reply.sendto(head + packet[12 : at + 5] + answers, self.client_address)

    def addresses_of(self, name):
        """A value is an address, or a list of lists: one for each question, the last for ever."""
        value = CONFIG["hosts"].get(name, [])
        if isinstance(value, str):
            return [value]
        turn = Dns.asked[name] = Dns.asked.get(name, -1) + 1
        return value[min(turn, len(value) - 1)] if value else []


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body, status=200, **fields):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fields(self):
        return {name.title(): value for name, value in self.headers.items()}

    def serve(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        note("http", method=self.command, path=self.path, headers=self.fields(),
             body=hashlib.sha256(body).hexdigest(), size=len(body), text=body[:2000].decode("latin-1"))
        path = self.path.split("?")[0]
        if path.startswith("/git/"):
            return self.git(body)
        if path.startswith("/simple/") or path.startswith("/npm/"):
            return self.package(path)
        if path == "/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(5):
                event = f"data: {i}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
                time.sleep(0.02)
            self.wfile.write(b"0\r\n\r\n")
            return None
        if path == "/redirect":
            return self.reply("", 302, Location=self.path.split("to=")[1])
        if self.headers.get("Upgrade") == "websocket":
            return self.websocket()
        return self.reply(json.dumps({"path": self.path, "method": self.command, "size": len(body),
                                      "headers": self.fields()}))

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = serve

    def websocket(self):
        self.connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        while data := self.connection.recv(4096):
            self.connection.sendall(data)
        self.close_connection = True

    def package(self, path):
        """A file of the registry's folder; metadata holds {BASE} for where it is."""
        file = Path(CONFIG["registry"] or "/nonexistent") / path.strip("/")
        if file.is_dir():
            file = file / "index.html" if (file / "index.html").exists() else file / "index.json"
        if not file.is_file():
            return self.reply("{}", 404)
        scheme = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
        data = file.read_bytes()
        if file.name.startswith("index"):
            data = data.replace(b"{BASE}", f"{scheme}://{self.headers['Host']}".encode())
            return self.reply(data, Content_Type="text/html" if file.suffix == ".html" else "application/json")
        return self.reply(data, Content_Type="application/octet-stream")

    def git(self, body):
        """git http-backend; where the repository's folder has a file `token`, only with it."""
        path, _, query = self.path.partition("?")
        path = path.removeprefix("/git")
        token = Path(CONFIG["git"]) / "token"
        expected = token.read_text().strip() if token.exists() else None
        given = base64.b64decode(self.headers.get("Authorization", "Basic ").split(" ", 1)[1] or b"").decode()
        if expected and given.partition(":")[2] != expected:
            return self.reply("", 401, WWW_Authenticate='Basic realm="git"')
        environment = {"GIT_PROJECT_ROOT": CONFIG["git"], "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                       "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "agent",
                       "CONTENT_TYPE": self.headers.get("Content-Type", ""), "PATH": os.environ["PATH"],
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                       "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(fields.pop("Status", "200").split()[0])
        fields.pop("Content-Length", None)
        return self.reply(rest, status, **{name.replace("-", "_"): value for name, value in fields.items()})

    def log_message(self, *arguments):
        pass


def echo(listener):
    """Says who it is first, as ssh and mail servers do, then echoes."""

    def serve(peer):
        note("tcp", address=peer.getsockname()[0], port=peer.getsockname()[1])
        peer.sendall(b"220 hello\r\n")
        while data := peer.recv(65536):
            peer.sendall(data)
        peer.close()

    while True:
        peer, _ = listener.accept()
        threading.Thread(target=serve, args=(peer,), daemon=True).start()


def ssh(listener):
    """OpenSSH's sshd, one for each connection, as the user that internet.Ssh named: a user namespace makes
    that id of ours, so that no privilege is needed."""
    folder = Path(CONFIG["ssh"])
    while True:
        peer, _ = listener.accept()
        note("ssh")
        if not (folder / "sshd_config").exists():
            peer.close()
            continue
        uid, gid = (folder / "login").read_text().split()
        hide = "mount --bind /dev/null /etc/shadow &&" if os.getuid() == 0 and CONFIG["root"] else ""
        script = (f"{hide} exec unshare -U --map-user={uid} --map-group={gid} "
                  f"/usr/sbin/sshd -i -f {folder}/sshd_config -E {folder}/log")
        subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", script],
                         stdin=peer, stdout=peer, stderr=subprocess.DEVNULL)
        peer.close()


class Threaded(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    for command in ("ip link set lo up", f"ip addr add {SERVER}/24 dev eth0", "ip link set eth0 up",
                    f"ip addr add {INSIDE_ADDRESS}/32 dev lo"):
        subprocess.run(command.split(), check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CONFIG["chain"], CONFIG["key"])
    plain, secure = Threaded((ALL, 80), Web), Threaded((ALL, 443), Web)
    secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    dns = socketserver.ThreadingUDPServer((ALL, 53), Dns)
    dns.daemon_threads = True
    for server in (plain, secure, dns):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=echo, args=(socket.create_server((ALL, 2525)),), daemon=True).start()
    threading.Thread(target=ssh, args=(socket.create_server((ALL, 22)),), daemon=True).start()
    print("listening", flush=True)
    sys.stdin.read()


main()
