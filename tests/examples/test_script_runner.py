"""examples/script-runner: tenants' scripts on the unmodified npm package, apart from each other."""
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import Daemon
from support.program import PATIENCE, TOP
from support.sdk import installed


class Runner:
    def __init__(self, folder, daemon, tenants, **env):
        self.process = subprocess.Popen(
            ["node", folder / "server.js"],
            env={
                "PATH": os.environ["PATH"],
                "E2B_API_URL": daemon.url,
                "E2B_SANDBOX_URL": daemon.url,
                "TENANTS": str(tenants),
                "PORT": "0",
                **env,
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.process.stdout.readline().split()[-1]

    def __call__(self, token, language, script):
        request = urllib.request.Request(
            f"{self.url}/run/{language}", script.encode(), {"Authorization": f"Bearer {token}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def out(self, token, language, script):
        status, result = self(token, language, script)
        assert status == 200, result
        return result["stdout"]

    def stop(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


@pytest.fixture
def folder(base):
    """The example as its user has it after `npm install`."""
    packages = installed("e2b@2.51.0")
    copy = base / "script-runner"
    shutil.copytree(TOP / "examples" / "script-runner", copy)
    (copy / "node_modules").symlink_to(packages / "node_modules")
    return copy


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock, "--egress", "none")
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def tenants(base, paddock):
    keys = {name: paddock("key", "create", name, "--json").ok().json()["secret"] for name in ("acme", "globex")}
    file = base / "tenants.json"
    file.write_text(json.dumps({f"of-{name}": {"name": name, "key": key} for name, key in keys.items()}))
    return file


@pytest.fixture
def run(folder, daemon, tenants):
    runner = Runner(folder, daemon, tenants, SCRIPT_MS="3000")
    yield runner
    runner.stop()


def test_scripts_of_three_languages_run(run):
    assert run("of-acme", "python", "print(6 * 7)") == (
        200,
        {"stdout": "42\n", "stderr": "", "status": 0, "ended": "exited"},
    )
    assert run.out("of-acme", "sh", 'echo "$((6 * 7))"') == "42\n"
    assert run.out("of-acme", "node", "console.log(6 * 7)") == "42\n"
    status, failed = run("of-acme", "python", "import sys; print('why', file=sys.stderr); sys.exit(3)")
    assert (failed["status"], failed["stderr"]) == (3, "why\n")


def test_a_tenant_keeps_its_files_and_sees_nobody_elses(run):
    run.out("of-acme", "sh", "echo secret-of-acme > ~/kept; (sleep 1000 &) >/dev/null 2>&1")
    assert run.out("of-acme", "sh", "cat ~/kept") == "secret-of-acme\n"
    look = "cat ~/kept 2>&1; grep -rs secret-of-acme /home /tmp /root; ps -ef; cat /proc/*/cmdline"
    seen = run.out("of-globex", "sh", look)
    assert "secret-of-acme\n" not in seen and "sleep" not in seen, seen


def test_a_tenants_key_does_not_open_anothers_sandbox(run, daemon, tenants):
    run.out("of-acme", "sh", "true")
    keys = {one["name"]: one["key"] for one in json.loads(tenants.read_text()).values()}
    listed = daemon.request("GET", "/v2/sandboxes", headers={"X-API-Key": keys["acme"]})[1]
    assert [one["metadata"]["tenant"] for one in listed] == ["acme"]
    path = f"/sandboxes/{listed[0]['sandboxID']}"
    assert daemon.request("GET", path, headers={"X-API-Key": keys["acme"]})[0] == 200, "the twin"
    assert daemon.request("GET", path, headers={"X-API-Key": keys["globex"]})[0] == 404


def test_what_never_ends_and_what_floods_is_cut(run):
    assert run("of-acme", "python", "while True: pass")[1]["ended"] == "time limit"
    status, flooded = run("of-acme", "sh", "yes")
    assert flooded["ended"] == "output limit" and len(flooded["stdout"]) == 64 << 10
    assert run.out("of-acme", "sh", "echo still there") == "still there\n"


def test_strangers_and_long_scripts_are_refused(run):
    assert run("of-nobody", "sh", "true")[0] == 401
    assert run("of-acme", "perl", "1")[0] == 404
    assert run("of-acme", "sh", "#" * (300 << 10))[0] == 413


def test_one_tenants_load_does_not_mix_with_anothers(run):
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: run.out(f"of-{('acme', 'globex')[n % 2]}", "sh", f"echo {n}"), range(24))
    assert list(answers) == [f"{n}\n" for n in range(24)]


def test_files_outlive_the_runner_and_a_sandbox_that_is_gone_is_made_anew(folder, daemon, tenants, paddock):
    first = Runner(folder, daemon, tenants)
    first.out("of-acme", "sh", "echo kept > ~/kept")
    first.stop()
    second = Runner(folder, daemon, tenants)
    assert second.out("of-acme", "sh", "cat ~/kept") == "kept\n"
    paddock("kill", paddock("ps", "--json").ok().json()["sandboxes"][0]["id"]).ok()
    assert second.out("of-acme", "sh", "test -e ~/kept || echo anew") == "anew\n"
    second.stop()
