"""Waiting for what comes by itself."""
import time

from support.program import PATIENCE


def eventually(look, holds, pause=0.02):
    """What `look` gives once it holds; when it never does, what it gave last."""
    until = time.monotonic() + PATIENCE
    while not holds(seen := look()) and time.monotonic() < until:
        time.sleep(pause)
    return seen
