"""Egress by name, for real clients and with no proxy variable: what policy names works, all else is refused."""
import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile

import pytest

from support.host import needs
from support.rules import TOKEN, credential, rule
from support.trees import git

def events(done, **fields):
    """Events of the outcome's network record with these fields."""
    return [e for e in done.report["network"]["events"] if all(e[k] == v for k, v in fields.items())]


def test_nothing_leaves_by_default_and_no_query_either(online):
    paddock = online(["a.example"])
    done = paddock.sh("getent hosts a.example || curl -sS -m 5 http://11.0.0.1/ || echo refused")
    assert done.out == "refused\n"
    assert paddock.internet.queries() == [] and paddock.internet.requests() == []
    assert done.denied("name", "a.example") and done.denied("network", "11.0.0.1")


def test_an_allowed_name_works_and_another_is_never_asked_for(online):
    paddock = online(["a.example", "b.example"])
    script = "curl -sS -m 10 http://a.example/x && ! curl -sS -m 10 http://b.example/ 2>&1"
    done = paddock.sh(script, "--allow", "a.example").ok()
    assert '"path": "/x"' in done.out and "resolve" in done.out
    assert set(paddock.internet.queries()) == {"a.example"}
    (denial,) = done.denied("name", "b.example")
    assert denial["rule"] == "egress" and denial["remedy"] == "--allow b.example"
    (event,) = events(done, kind="request")
    assert (event["verdict"], event["host"], event["path"], event["status"]) == ("allowed", "a.example", "/x", 200)
    assert event["address"] == "11.0.0.1" and event["rule"] == "egress:a.example"


def test_tls_passes_untouched(online):
    paddock = online(["a.example"])
    script = "curl -sS -m 10 --cacert /servers.pem https://a.example/x"
    done = paddock.sh(script, "--allow", "a.example", *paddock.trusting).ok()
    assert json.loads(done.out)["path"] == "/x"
    (event,) = events(done, kind="connection")
    assert (event["protocol"], event["port"], event["verdict"]) == ("tls", 443, "allowed")
    assert event["response_bytes"] > 0 and event["process"] == "curl"


def test_every_resolver_answers(online):
    paddock = online(["a.example"])
    script = """
set -e
getent ahosts a.example | grep -q 198.18.
python3 -c "import socket; print(socket.getaddrinfo('a.example', 80)[0][4][0])"
grep -q localhost /etc/hosts && getent hosts localhost
! getent hosts b.example
"""
    done = paddock.sh(script, "--allow", "a.example").ok()
    assert done.out.startswith("198.18.") or done.out.startswith("2001:2:"), done
    assert paddock.internet.queries() == [], "a name is not asked for before somebody connects"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs npm: node is not installed")
def test_node_fetch_works(online):
    paddock = online(["a.example"])
    program = "fetch('http://a.example/n').then(async r => console.log(r.status, (await r.json()).path))"
    assert paddock.run("node", "-e", program, options=("--allow", "a.example")).ok().out == "200 /n\n"


def test_a_host_that_speaks_first_and_a_port_of_its_own(online):
    paddock = online(["a.example"])
    program = (
        "import socket\ns = socket.create_connection(('a.example', 2525), 10)\n"
        "print(s.recv(100)); s.sendall(b'x' * 100000); s.shutdown(1)\n"
        "n = 0\nwhile d := s.recv(65536): n += len(d)\nprint(n)"
    )
    done = paddock.run("python3", "-c", program, options=("--allow", "a.example:2525")).ok()
    assert done.out == "b'220 hello\\r\\n'\n100000\n"
    refused = paddock.run("python3", "-c", program, options=("--allow", "a.example:80"))
    assert refused.code != 0 and refused.denied("network", "a.example:2525"), refused


def test_requests_are_held_to_methods_and_paths(online):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=["a.example"], methods=["GET"], paths=["/ok/**"], name="reading"))
    script = """
curl -sS https://a.example/ok/1; echo
curl -sS -i https://a.example/other; echo
curl -sS -o /dev/null -w '%{http_code}\\n' -X POST -d x https://a.example/ok/1
curl -sS -o /dev/null -w '%{http_code}\\n' --path-as-is https://a.example/ok/../other
"""
    done = paddock.sh(script).ok()
    assert '"path": "/ok/1"' in done.out
    assert "403" in done.out and "x-paddock-denied: egress" in done.out.lower()
    assert "no rule allows it" in done.out
    assert done.out.endswith("403\n403\n")
    assert [r["path"] for r in paddock.internet.requests()] == ["/ok/1"]
    assert len(events(done, verdict="denied", kind="request")) == 3
    assert done.denied("network", "POST a.example:443/ok/1")


def test_inspected_streams_keep_events_and_websockets(online):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=["a.example"], methods=["GET"]))
    program = """
import os, socket, ssl
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
s = context.wrap_socket(socket.create_connection(("a.example", 443), 10), server_hostname="a.example")
s.sendall(b"GET /chat HTTP/1.1\\r\\nHost: a.example\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n")
print(s.recv(4096).split(b"\\r\\n")[0].decode())
for i in range(20):
    frame = b"\\x82\\x85mask" + b"%05d" % i
    s.sendall(frame)
    assert s.recv(100) == frame
print("echoed")
"""
    assert paddock.run("python3", "-c", program).ok().out == "HTTP/1.1 101 Switching Protocols\nechoed\n"
    assert paddock.sh("curl -sSN https://a.example/events").ok().out.count("data: ") == 5


def test_a_credential_is_put_on_and_never_inside(online):
    paddock = online(["a.example", "b.example"])
    paddock.policy(rule(hosts=["a.example", "b.example"]) + credential(hosts=["a.example"]))
    script = """
echo "$TOKEN" > held; cat /proc/self/environ | tr '\\0' '\\n' > environment
curl -sS -H "Authorization: Bearer $TOKEN" https://a.example/with; echo
curl -sS https://a.example/without; echo
"""
    done = paddock.sh(script, env={"TOKEN": TOKEN}).ok()
    with_token, without = (json.loads(line) for line in done.out.splitlines())
    # Both reached the server with the secret; what comes back of it is masked.
    sent = [r["headers"]["Authorization"] for r in paddock.internet.requests()]
    assert sent == [f"Bearer {TOKEN}"] * 2
    assert with_token["headers"]["Authorization"] == "Bearer " + "*" * len(TOKEN)
    assert [e["credentials"] for e in events(done, kind="request")] == [["token"], ["token"]]
    patch = paddock("diff", done.view).ok().out
    placeholder = patch.split("+ghp_")[1].split()[0]
    assert len(placeholder) == len(TOKEN) - 4
    forms = {TOKEN.encode(), base64.b64encode(TOKEN.encode()).strip(b"=")[2:-2]}
    for form in forms:
        assert form not in done.out_bytes + done.err_bytes + patch.encode() + json.dumps(done.report).encode()
        for folder, _, files in os.walk(paddock.state):
            for file in files:
                path = os.path.join(folder, file)
                if os.path.isfile(path):
                    with open(path, "rb") as handle:
                        assert form not in handle.read(), path
    # The twin: passed as it is, it would be found.
    bare = paddock.sh("echo $TOKEN", "--pass-env", "TOKEN", "--egress", "none", env={"TOKEN": TOKEN}).ok()
    assert TOKEN in bare.out


def test_a_credential_that_cannot_be_had_stops_the_run(online):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=["a.example"]) + credential(hosts=["a.example"]))
    paddock.sh("echo ran").refused("token", "TOKEN", "not set")
    paddock.sh("echo ran", "--egress", "none").ok()


def test_paddocks_own_store_keeps_a_secret(online):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=["a.example"]) + credential(hosts=["a.example"], **{"from": "store:gh"}))
    paddock("secret", "add", "gh", stdin=TOKEN.encode() + b"\n").ok()
    assert paddock("secret", "ls").ok().out == "gh\n"
    paddock.sh("curl -sS https://a.example/").ok()
    assert paddock.internet.requests()[0]["headers"]["Authorization"] == f"Bearer {TOKEN}"
    for file in (paddock.state / "secrets").iterdir():
        assert TOKEN.encode() not in file.read_bytes() and file.stat().st_mode & 0o077 == 0
    paddock("secret", "rm", "gh").ok()
    paddock.sh("true").refused("no secret gh")


def test_git_clones_and_pushes_only_where_it_may(online):
    paddock = online(["git.example"])
    folder = paddock.internet.folder / "git"
    origin = folder / "acme" / "app.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
    git(origin, "config", "http.receivepack", "true")
    (folder / "token").write_text(TOKEN)
    paddock.policy(
        rule(hosts=["git.example"], protocol="git", repositories=["git/acme/*"], push=["agent/*"])
        + credential(hosts=["git.example"], kind="git")
    )
    script = """
set -e
git clone -q https://git.example/git/acme/app.git work 2>&1; cd work
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
git push -q origin HEAD:refs/heads/agent/x 2>&1
if git push -q origin HEAD:refs/heads/main 2>&1; then echo PUSHED; fi
git fetch -q origin && git log --oneline origin/agent/x
"""
    done = paddock.sh(script, env={"TOKEN": TOKEN}).ok()
    assert "one" in done.out and "no rule allows it" in done.out and "PUSHED" not in done.out
    refs = git(origin, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/agent/x"]
    assert TOKEN not in done.out + json.dumps(done.report)


def npm_package(folder, name):
    """`name` 1.0.0 as a registry serves it."""
    data = json.dumps({"name": name, "version": "1.0.0", "main": "index.js"}).encode()
    code = b"module.exports = 'from the registry'\n"
    blob = io.BytesIO()
    with tarfile.open(fileobj=blob, mode="w:gz") as archive:
        for path, content in (("package/package.json", data), ("package/index.js", code)):
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    there = folder / "npm" / name
    there.mkdir(parents=True)
    (there / f"{name}-1.0.0.tgz").write_bytes(blob.getvalue())
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(blob.getvalue()).digest()).decode()
    dist = {"tarball": f"{{BASE}}/npm/{name}/{name}-1.0.0.tgz", "integrity": integrity}
    version = {"name": name, "version": "1.0.0", "main": "index.js", "dist": dist}
    (there / "index.json").write_text(
        json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}})
    )
    return integrity


def wheel(folder, name):
    there = folder / "simple" / name
    there.mkdir(parents=True)
    file = f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(there / file, "w") as archive:
        archive.writestr(f"{name}.py", "ORIGIN = 'from the index'\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    (there / "index.html").write_text(f'<a href="{file}">{file}</a>\n')


def test_npm_ci_works_with_the_registry_of_the_host(online, base):
    needs("npm", shutil.which("npm"))
    registry = base / "registry"
    integrity = npm_package(registry, "tiny")
    paddock = online(["packages.example"], registry=str(registry))
    (paddock.home / ".npmrc").write_text("registry=http://packages.example/npm/\n")
    dependency = {"version": "1.0.0", "resolved": "http://packages.example/npm/tiny/tiny-1.0.0.tgz",
                  "integrity": integrity}
    package = {"name": "p", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}
    (paddock.workspace / "package.json").write_text(json.dumps(package))
    (paddock.workspace / "package-lock.json").write_text(json.dumps(
        {"name": "p", "version": "1.0.0", "lockfileVersion": 3,
         "packages": {"": package, "node_modules/tiny": dependency}}))
    script = "npm ci --no-audit --no-fund 2>&1 && node -e \"console.log(require('tiny'))\""
    done = paddock.sh(script, "--egress", "package-registries")
    assert done.code == 0 and "from the registry" in done.out, done
    assert "http_proxy" not in paddock.sh("env").out.lower()


def test_pip_install_works_with_the_index_of_the_host(online, base):
    needs("pip", subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode == 0)
    registry = base / "registry"
    wheel(registry, "tinypy")
    paddock = online(["packages.example"], registry=str(registry))
    (paddock.home / ".config" / "pip").mkdir(parents=True)
    (paddock.home / ".config" / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = http://packages.example/simple/\ntrusted-host = packages.example\n")
    script = ("python3 -m pip install -q --disable-pip-version-check --target lib tinypy 2>&1 && "
              "PYTHONPATH=lib python3 -c 'import tinypy; print(tinypy.ORIGIN)'")
    done = paddock.sh(script, "--egress", "package-registries")
    assert done.code == 0 and "from the index" in done.out, done


def test_git_hosts_are_the_remotes_of_the_repository(online):
    paddock = online(["git.example", "other.example"])
    origin = paddock.internet.folder / "git" / "app.git"
    subprocess.run(["git", "clone", "-q", "--bare", paddock.workspace, origin], check=True)
    git(paddock.workspace, "remote", "add", "origin", "https://git.example/git/app.git")
    script = "git ls-remote https://git.example/git/app.git && ! git ls-remote https://other.example/git/app.git"
    done = paddock.sh(script, "--egress", "git-hosts").ok()
    assert "refs/heads" in done.out and done.denied("name", "other.example")


def test_the_record_is_kept_with_the_view(online):
    paddock = online(["a.example"])
    done = paddock.sh("curl -sS http://a.example/x > got; getent hosts b.example; true", "--allow", "a.example").ok()
    shown = paddock("show", done.view, "--network").ok().out
    assert "GET a.example:80/x" in shown and "allowed" in shown
    assert "name b.example" in shown and "denied" in shown
    steps = paddock("show", done.view, "--json").ok().json()["steps"]
    assert steps[0]["network"]["events"] == done.report["network"]["events"]


def test_learning_prints_the_policy_that_was_missing(online):
    paddock = online(["a.example", "b.example"])
    script = "curl -sS http://a.example/x; curl -sSk https://b.example/y"
    done = paddock.sh(script, "--learn").ok()
    learned = "[[egress.rule]]" + done.err.split("[[egress.rule]]", 1)[1]
    assert 'hosts = ["a.example"]' in learned and 'paths = ["/x"]' in learned
    assert 'hosts = ["b.example"]' in learned and 'protocol = "tls"' in learned
    # And it is the policy: with it, and nothing else, the same passes.
    paddock.policy(learned)
    assert paddock.sh(script).ok().out == done.out
    assert paddock.sh("curl -sS http://a.example/z").ok().report["network"]["events"][0]["verdict"] == "denied"


def test_a_project_opens_nothing_and_may_close(online):
    paddock = online(["a.example", "b.example"])
    project = paddock.workspace / "paddock.toml"
    project.write_text(rule(hosts=["a.example"]))
    assert paddock.sh("curl -sS -m 5 http://a.example/ || echo refused").out == "refused\n"
    project.write_text('[egress]\nallow = ["a.example"]\n')
    paddock.sh("true").refused("egress.allow", "paddock.toml")
    project.write_text(rule(action="deny", hosts=["b.example"], reason="not in this project"))
    done = paddock.sh("curl -sS -m 5 http://b.example/ || echo refused", "--allow", "b.example")
    assert done.out == "refused\n"
    assert done.denied("name", "b.example")[0]["remedy"] == "not in this project"


def test_a_budget_of_bytes_ends_the_stream(online):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=["a.example"], methods=["PUT"], request_bytes="100K"))
    script = ("head -c 90000 /dev/zero | curl -sS -o /dev/null -w '%{http_code} ' -T - https://a.example/1;"
              "head -c 90000 /dev/zero | curl -sS -o /dev/null -w '%{http_code}' -T - https://a.example/2")
    done = paddock.sh(script)
    assert done.out.startswith("200 ") and not done.out.endswith("200"), done
    assert any("bytes sent" in e["reason"] for e in events(done, verdict="denied")), done.report


def test_gpus_are_refused_by_name(online):
    paddock = online(["a.example"])
    paddock.sh("true", "--gpu").refused("--gpu")
