"""Services at unix sockets of the host, for tests: each in threads of this process."""
import os
import socket
import struct
import threading
import time

from support.program import PATIENCE


def wait_for_listener(path, process):
    """Until somebody listens at `path`: the file is there a moment earlier. `process` is to."""
    until = time.monotonic() + PATIENCE
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex(str(path)) == 0:
                return
        assert process.poll() is None and time.monotonic() < until, f"nobody listens at {path}"
        time.sleep(0.01)


class Service:
    """Listens at `path`; `serve(connection)` runs in a thread for each connection. `peers` are the
    (pid, uid) of those who connected. Ends with close(); `stop()` also removes the path."""

    def __init__(self, path, serve, backlog=128):
        self.path = path
        self.peers = []
        self.listener = socket.socket(socket.AF_UNIX)
        folder = os.open(path.parent, os.O_PATH)  # paths of tests may be longer than sun_path
        self.listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)
        self.listener.listen(backlog)
        threading.Thread(target=self._accept, args=(serve,), daemon=True).start()

    def _accept(self, serve):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid, uid, _ = struct.unpack("3i", packed)
            self.peers.append((pid, uid))
            threading.Thread(target=self._serve, args=(serve, connection), daemon=True).start()

    @staticmethod
    def _serve(serve, connection):
        with connection:
            try:
                serve(connection)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def stop(self):
        self.close()
        self.path.unlink()


def echo(connection):
    """Gives back what comes, once the other side has said all: half-close in both directions."""
    got = b""
    while piece := connection.recv(65536):
        got += piece
    connection.sendall(b"echo " + got)
