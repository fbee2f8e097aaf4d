"""Scripts on the unmodified npm packages."""
import os
import shutil
import subprocess

from support import npm_packages
from support.host import needs
from support.program import PATIENCE, TOP

PRELUDE = """
import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
"""


def installed(*packages):
    """A folder of the session's own with these packages in it: those of the whole run, or from the registry."""
    needs("npm", shutil.which("npm"), "not installed")
    name = npm_packages.name_of(packages)
    folder, shared = TOP / "tmp" / name, TOP / "packages" / name
    if not folder.exists():
        folder.mkdir()
        if shared.exists():
            (folder / "node_modules").symlink_to(shared / "node_modules")
        else:
            npm_packages.install(folder, packages, TOP / "tmp" / "npm-cache")
    for refused in (shared / npm_packages.REFUSED, folder / npm_packages.REFUSED):
        needs("package-registry", not refused.exists(), refused.exists() and refused.read_text())
    return folder


class Sdk:
    """Runs scripts against a daemon; `wrap` where that runs in another world."""

    def __init__(self, folder, daemon, wrap=lambda argv: argv, prelude="", env=None):
        self.folder, self.daemon, self.wrap, self.prelude = folder, daemon, wrap, prelude
        self.env = env or {"E2B_API_URL": daemon.url, "E2B_SANDBOX_URL": daemon.url}

    def __call__(self, script):
        file = self.folder / "script.mjs"
        file.write_text(PRELUDE + self.prelude + script)
        done = subprocess.run(
            self.wrap(["node", file]),
            env={"PATH": os.environ["PATH"], "E2B_API_KEY": "e2b_" + "0" * 40, **self.env},
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.daemon.log.read_text()}"
        return done.stdout
