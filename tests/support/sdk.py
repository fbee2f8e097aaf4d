"""Scripts on the unmodified npm packages."""
import os
import shutil
import subprocess

from support.host import needs
from support.program import PATIENCE, TOP

PRELUDE = """
import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
"""


def installed(*packages):
    """A folder with these packages in it, from the registry, once a session."""
    needs("npm", shutil.which("npm"), "not installed")
    folder = TOP / "tmp" / ("npm-" + "-".join(p.replace("/", "_").replace("@", "_") for p in packages))
    if not (folder / "installed").exists():
        folder.mkdir(exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--cache", TOP / "tmp" / "npm-cache"]
        done = subprocess.run([*command, *packages], cwd=folder, capture_output=True, text=True)
        needs("package-registry", done.returncode == 0, done.stderr[-300:])
        (folder / "installed").touch()
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
