"""Fixtures of the examples: run as their README says, with `paddock` in PATH."""
import subprocess

import pytest
from support.program import PADDOCK, PATIENCE, TOP


@pytest.fixture
def example(paddock):
    """Runs a program of examples/ as its user would, at a HOME and PADDOCK_HOME of the test's."""

    def run(program, *args, env=None):
        file = TOP / "examples" / program
        return subprocess.run(
            ["/usr/bin/python3", file, *map(str, args)],
            env={**paddock.env, "PATH": f"{PADDOCK.parent}:{paddock.env['PATH']}", **(env or {})},
            cwd=paddock.home,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 3,
        )

    return run
