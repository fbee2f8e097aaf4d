"""Runs code for clients of the code interpreter: contexts that keep their state, in Python, bash and JavaScript.

Started inside a sandbox as the sandbox's user; speaks HTTP on 127.0.0.1:49999. Everything here is as hostile as
the code that it runs: the host trusts none of it.

  POST /execute {code, context_id?, language?, env_vars?}   a line of JSON for each output, as it comes
  POST /contexts {language?, cwd?}   GET /contexts   DELETE /contexts/ID
  POST /contexts/ID/restart   POST /contexts/ID/interrupt   GET /health
"""
import json
import os
import queue
import socket
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from contexts import ContextError, canonical, make_context

PORT = 49999
MAX_BODY = 64 << 20
KEEPALIVE_SECONDS = 5
MAX_CONTEXTS = 64


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Contexts:
    """All contexts by id; for each language one is there without being made."""

    def __init__(self, home):
        self.home = home
        self.lock = threading.Lock()
        self.by_id = {}
        self.defaults = {}

    def make(self, language, cwd):
        with self.lock:
            if len(self.by_id) >= MAX_CONTEXTS:
                raise Refused(429, f"more than {MAX_CONTEXTS} contexts: remove some that are not needed")
        cwd = os.path.join(self.home, os.path.expanduser(cwd or self.home))
        if not os.path.isdir(cwd):
            raise Refused(400, f"cwd {cwd} is no directory")
        context = make_context(str(uuid.uuid4()), language, cwd)
        with self.lock:
            self.by_id[context.id] = context
        return context

    def default(self, language):
        language = canonical(language)
        with self.lock:
            slot = self.defaults.setdefault(language, {"lock": threading.Lock(), "id": None})
        with slot["lock"]:
            context = self.by_id.get(slot["id"])
            if context is None:
                context = self.make(language, None)
                slot["id"] = context.id
            return context

    def find(self, id):
        with self.lock:
            if id not in self.by_id:
                raise Refused(404, f"Context {id} not found")
            return self.by_id[id]

    def remove(self, id):
        context = self.find(id)
        with self.lock:
            self.by_id.pop(id, None)
        context.close()

    def all(self):
        with self.lock:
            return list(self.by_id.values())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    contexts = None

    def log_message(self, *_):
        pass

    # ---- the few forms of an answer

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if data:
            self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                data += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
                if len(data) > MAX_BODY:
                    raise Refused(413, "the body is too long")
        else:
            length = int(self.headers.get("Content-Length", 0))
            if length > MAX_BODY:
                raise Refused(413, "the body is too long")
            data = self.rfile.read(length)
        try:
            fields = json.loads(data) if data.strip() else {}
        except ValueError:
            raise Refused(400, "the body is no JSON")
        if not isinstance(fields, dict):
            raise Refused(400, "the body is no JSON object")
        return fields

    def serve(self):
        try:
            self.route(self.path.split("?")[0].strip("/").split("/"))
        except Refused as refused:
            self.answer(refused.status, {"code": refused.status, "message": str(refused)})
        except ContextError as error:
            self.answer(error.status, {"code": error.status, "message": str(error)})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_DELETE = serve

    # ---- endpoints

    def route(self, path):
        call = (self.command, path[0], len(path), path[2] if len(path) > 2 else "")
        if call == ("GET", "health", 1, ""):
            return self.answer(200, "OK")
        if call == ("POST", "execute", 1, ""):
            return self.execute(self.body())
        if call == ("GET", "contexts", 1, ""):
            return self.answer(200, [context.describe() for context in self.contexts.all()])
        if call == ("POST", "contexts", 1, ""):
            fields = self.body()
            return self.answer(200, self.contexts.make(fields.get("language"), fields.get("cwd")).describe())
        if call == ("DELETE", "contexts", 2, ""):
            self.contexts.remove(path[1])
            return self.answer(204)
        if call == ("POST", "contexts", 3, "restart"):
            self.body()
            self.contexts.find(path[1]).restart()
            return self.answer(204)
        if call == ("POST", "contexts", 3, "interrupt"):
            self.body()
            self.contexts.find(path[1]).interrupt()
            return self.answer(204)
        raise Refused(404, "no such endpoint")

    def execute(self, fields):
        code, language = fields.get("code"), fields.get("language")
        environment = fields.get("env_vars") or {}
        if not isinstance(code, str):
            raise Refused(400, "'code' must be a string")
        if not isinstance(environment, dict) or not all(isinstance(v, str) for v in environment.values()):
            raise Refused(400, "'env_vars' must be an object of strings")
        if fields.get("context_id") and language:
            raise Refused(400, "'context_id' and 'language' exclude each other")
        if fields.get("context_id"):
            context = self.contexts.find(fields["context_id"])
        else:
            context = self.contexts.default(language)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        outputs = queue.Queue(maxsize=1000)  # code that prints more than its reader takes waits
        stop = threading.Event()
        worker = threading.Thread(target=context.execute, args=(code, environment, outputs, stop), daemon=True)
        worker.start()
        try:
            self.stream(outputs)
        except OSError:
            # Who asked is gone: nobody wants the rest, and the next one wants the context.
            self.close_connection = True
            stop.set()
            context.interrupt()
            while worker.is_alive():
                try:
                    outputs.get(timeout=0.2)
                except queue.Empty:
                    pass

    def stream(self, outputs):
        while True:
            try:
                line = outputs.get(timeout=KEEPALIVE_SECONDS)
            except queue.Empty:
                line = {"type": "keepalive"}
            data = json.dumps(line).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            if line["type"] == "end_of_execution":
                self.wfile.write(b"0\r\n\r\n")
                return


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address


def main():
    home = os.environ.get("HOME", "/")
    Handler.contexts = Contexts(home)
    server = Server(("127.0.0.1", PORT), Handler)
    # The first answer does not wait for the interpreter's start.
    threading.Thread(target=lambda: Handler.contexts.default("python"), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
