"""Fixtures of the compatibility tests: a daemon, and the unmodified npm package that talks to it."""
import os
import subprocess

import pytest
from support.daemon import Daemon
from support.npm_packages import E2B
from support.program import PATIENCE
from support.sdk import installed

PRELUDE = """
import assert from 'node:assert/strict'
import * as e2b from 'e2b'
const { Sandbox } = e2b
"""


@pytest.fixture(scope="session", params=E2B)
def package(request):
    """A folder in which that version of the package is installed."""
    return installed(f"e2b@{request.param}")


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def sdk(package, daemon):
    """Runs a script that has the package at hand; returns what it printed."""

    def run(script, key="e2b_" + "0" * 40):
        file = package / "script.mjs"
        file.write_text(PRELUDE + script)
        done = subprocess.run(
            ["node", file],
            env={
                "PATH": os.environ["PATH"],
                "E2B_API_URL": daemon.url,
                "E2B_SANDBOX_URL": daemon.url,
                "E2B_API_KEY": key,
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{daemon.log.read_text()}"
        return done.stdout

    return run


@pytest.fixture
def daemons(paddock):
    """Makes daemons, one at a time. At the end all sandboxes are killed and the last daemon stopped."""
    made = []

    def start(**options):
        made.append(Daemon(paddock, leased=True, **options))
        return made[-1]

    yield start
    last = made[-1] if made and made[-1].process.poll() is None else start()
    for sandbox in last.request("GET", "/v2/sandboxes")[1]:
        assert last.request("DELETE", f"/sandboxes/{sandbox['sandboxID']}")[0] == 204
    assert last.stop() == 0, last.log.read_text()
