"""Many clients at once: no request fails, and what they leave goes, under the next daemon too."""
import os
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from support.daemon import Daemon
from support.program import PATIENCE

CLIENTS = 64


def kept(paddock, folder):
    return [n for n in os.listdir(paddock.state / folder) if n not in (".lock", "below")]


def wait_for_none(paddock, folder):
    end = time.monotonic() + PATIENCE
    while (left := kept(paddock, folder)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def lives(daemon, number, together):
    together.wait()
    sandbox = daemon.create(metadata={"client": str(number)})
    ran = daemon.start(sandbox, f"echo {number} > file; cat file; exit {number}")
    assert ran == (f"{number}\n".encode(), number)
    assert daemon.request("DELETE", f"/sandboxes/{sandbox['sandboxID']}")[0] == 204


def test_many_clients_at_once_are_all_served_and_leave_nothing(paddock):
    first = Daemon(paddock)
    together = Barrier(CLIENTS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(lives, first, n, together) for n in range(CLIENTS)]:
            done.result()
    assert first.request("GET", "/v2/sandboxes")[1] == []
    assert kept(paddock, "sandboxes") == []
    # Layers are removed behind the answers: what is left of them is the next daemon's to remove.
    assert first.stop() == 0, first.log.read_text()
    second = Daemon(paddock)
    assert wait_for_none(paddock, "layers") == []
    assert second.stop() == 0, second.log.read_text()
