"""Servers that test_clients.py runs in the network namespace of support.internet. `NAME JSON`."""
import hashlib
import http.server
import json
import ssl
import sys
import threading
from concurrent import futures
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import sigv4  # noqa: E402


def grpc_server(config):
    import grpc

    def say(request, context):
        metadata = dict(context.invocation_metadata())
        context.set_trailing_metadata((("served-by", "test"),))
        return b"echo " + request + b" " + metadata.get("authorization", "nobody").encode()

    def count(request, context):
        for i in range(int(request)):
            yield b"%d" % i

    def total(requests, context):
        return b"%d" % sum(len(request) for request in requests)

    def fail(request, context):
        context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")

    methods = {
        "Say": grpc.unary_unary_rpc_method_handler(say),
        "Count": grpc.unary_stream_rpc_method_handler(count),
        "Total": grpc.stream_unary_rpc_method_handler(total),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
    }
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", methods),))
    pair = (Path(config["key"]).read_bytes(), Path(config["chain"]).read_bytes())
    assert server.add_secure_port("0.0.0.0:50051", grpc.ssl_server_credentials([pair]))
    server.start()
    return server.wait_for_termination


def bucket(config):
    """Keeps what is PUT where it is signed by config's key, as an object store does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path, _, query = self.path.partition("?")
            fields = {name.lower(): value for name, value in self.headers.items()}
            digest = hashlib.sha256(body).hexdigest()
            payload = fields.get("x-amz-content-sha256", digest)
            request = {"method": "PUT", "path": path, "query": query, "fields": fields, "payload": payload}
            why = sigv4.verify(config["id"], config["secret"], request, fields.get("authorization", ""))
            if not why and payload not in (digest, "UNSIGNED-PAYLOAD"):
                why = "the body is another one"
            text = (why or f"kept {digest}").encode()
            self.send_response(403 if why else 200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(config["chain"], config["key"])
    server = http.server.ThreadingHTTPServer(("0.0.0.0", 8443), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server.serve_forever


SERVERS = {"grpc": grpc_server, "bucket": bucket}

serve = SERVERS[sys.argv[1]](json.loads(sys.argv[2]))
print("listening", flush=True)
threading.Thread(target=serve, daemon=True).start()
sys.stdin.read()
