"""The README's script, as it stands there, on the unmodified packages: it prints what the README shows."""
import re
import subprocess

import pytest
from support.daemon import Daemon
from support.host import needs
from support.program import TOP
from support.sdk import Sdk, installed


def has(module):
    return subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode == 0


def shown():
    """The script, and the block of its output behind it."""
    text = (TOP / "README.md").read_text()
    found = re.search(r"```js\n(.*?)```\n\n```\n(.*?)```\n", text, re.DOTALL)
    assert found, "no script with its output"
    return found.groups()


def without_sizes(text):
    """The length of a picture is that of this machine's fonts and libraries."""
    for size in re.findall(r"png of (\d+)", text):
        assert int(size) > 1000
    return re.sub(r"png of \d+", "png of N", text)


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def test_the_script_prints_what_the_readme_shows(daemon):
    needs("ipykernel", has("ipykernel") and has("jupyter_client"), "not installed")
    needs("matplotlib", has("matplotlib") and has("pandas"), "not installed")
    sdk = Sdk(installed("e2b@2.51.0", "@e2b/code-interpreter@2.8.0"), daemon)
    script, output = shown()
    assert len(script.splitlines()) <= 12
    assert without_sizes(sdk(script)) == without_sizes(output)
    assert daemon.request("GET", "/v2/sandboxes")[1] == []
