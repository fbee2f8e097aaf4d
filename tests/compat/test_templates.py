"""What sandboxes are made from: directories of the host, and templates that clients build."""
import contextlib
import hashlib
import http.client
import io
import os
import shutil
import stat
import tarfile
import time

import pytest
from support.daemon import Daemon
from support.host import needs_root
from support.operate import write_settings
from support.program import PATIENCE
from support.sdk import Sdk, installed


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def busybox():
    return next(path for path in ("/bin/busybox", "/usr/bin/busybox") if os.path.exists(path))


@pytest.fixture
def root(base):
    """A root file system: busybox and a marker."""
    folder = base / "root"
    for name in ("bin", "etc", "usr"):
        (folder / name).mkdir(parents=True)
    shutil.copy(busybox(), folder / "bin" / "busybox")
    for name in ("sh", "cat", "ls", "id", "rm", "mkdir", "touch"):
        (folder / "bin" / name).symlink_to("busybox")
    (folder / "etc" / "marker").write_text("of the template\n")
    (folder / "etc" / "passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n"
    )
    return folder


def digest(folder):
    """Every entry below, with what it is and holds."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        st = path.lstat()
        seen.update(repr((str(path), st.st_mode, st.st_uid, st.st_mtime_ns)).encode())
        if stat.S_ISREG(st.st_mode):
            seen.update(path.read_bytes())
    return seen.hexdigest()


# ---- directories


def test_sandboxes_stand_on_a_directory_and_never_write_to_it(daemon, paddock, root):
    before = digest(root)
    assert paddock("template", "add", "box", "root", cwd=root.parent).ok().out == "box\n"
    made = [paddock("create", "--template", "box").ok().out.strip() for _ in range(2)]
    script = "cat /etc/marker /etc/machine-id; echo mine > /etc/new || echo > ~/new"
    outs = [paddock("exec", id, "--", "/bin/sh", "-c", script).ok().out.split("\n") for id in made]
    assert [out[0] for out in outs] == ["of the template"] * 2
    assert outs[0][1] != outs[1][1]
    if os.geteuid() == 0:
        sudo = ("exec", made[0], "--", "/usr/bin/sudo", "rm", "/etc/marker")
        paddock(*sudo).ok()
        assert paddock("exec", made[0], "--", "/bin/cat", "/etc/marker").code == 1
    again = paddock("exec", made[1], "--", "/bin/cat", "/etc/marker").ok()
    assert again.out == "of the template\n"
    assert digest(root) == before
    # Its files are kept as those of any other template.
    paddock("exec", made[1], "--", "/bin/sh", "-c", "echo kept > ~/kept").ok()
    snapshot = paddock("snapshot", made[1]).ok().out.strip()
    paddock("restart", made[1]).ok()
    third = paddock("create", "--template", snapshot).ok().out.strip()
    for id in (made[1], third):
        assert paddock("exec", id, "--", "/bin/sh", "-c", "cat ~/kept").ok().out == "kept\n"
    # And to E2B's clients it has a name like every other.
    sandbox = daemon.create(templateID="box")
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)
    assert digest(root) == before


def test_a_directory_outlives_the_daemon_and_is_read_again(daemons, paddock, root):
    daemon = daemons()
    paddock("template", "add", "box", root).ok()
    sandbox = daemon.create(templateID="box", timeout=600)
    daemon.kill()
    daemon = daemons()
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)
    paddock("restart", sandbox["sandboxID"]).ok()
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)


def test_a_directory_is_listed_and_removed_once_nothing_stands_on_it(daemon, paddock, root):
    paddock("template", "add", "box", root).ok()
    rows = {row["id"]: row for row in paddock("template", "ls", "--json").ok().json()["templates"]}
    assert rows["box"]["kind"] == "directory" and rows["box"]["directory"] == str(root)
    assert str(root) in paddock("template", "ls").ok().out
    again = paddock("template", "add", "box", root)
    assert again.code == 1 and "template rm box" in again.err
    id = paddock("create", "--template", "box").ok().out.strip()
    refused = paddock("template", "rm", "box")
    assert refused.code == 1 and f"paddock kill {id}" in refused.err
    snapshot = paddock("snapshot", id).ok().out.strip()
    paddock("kill", id).ok()
    refused = paddock("template", "rm", "box")
    assert refused.code == 1 and snapshot in refused.err
    paddock("template", "rm", snapshot, "box").ok()
    gone = paddock("create", "--template", "box")
    assert gone.code == 1 and "template 'box' not found" in gone.err


def test_what_is_no_root_is_refused_with_the_remedy(daemon, paddock, root, base):
    def refused(name, directory, *words):
        done = paddock("template", "add", name, directory)
        assert done.code in (1, 2), done
        for word in words:
            assert word in done.err, done.err

    refused("box", base / "none", "none")
    refused("base", root, "built-in")
    refused("a b", root, "letters")
    refused("box", paddock.state, "PADDOCK_HOME")
    refused("box", "/", "PADDOCK_HOME")
    root.chmod(0o777)
    refused("box", root, "chmod go-w")
    root.chmod(0o755)
    (root / "bin" / "sh").unlink()
    refused("box", root, "/bin/sh", "root file system")
    (root / "bin" / "sh").symlink_to("busybox")
    paddock("template", "add", "box", root).ok()
    # What it was when it was added does not count later.
    root.chmod(0o777)
    made = paddock("create", "--template", "box")
    assert made.code == 1 and "chmod go-w" in made.err


def test_a_directory_that_the_pool_keeps_ready_is_not_removed(paddock, root):
    write_settings(paddock, "[pool]\nbox = 1\n")
    daemon = Daemon(paddock)
    paddock("template", "add", "box", root).ok()
    removed = paddock("template", "rm", "box")
    assert removed.code == 1 and "[pool] in server.toml" in removed.err
    assert daemon.stop() == 0, daemon.log.read_text()


def test_nobody_on_the_network_names_a_directory_of_the_host(daemon, paddock, root):
    wanted = {"name": "box", "directory": str(root)}
    status, body, _ = daemon.request("POST", "/paddock/v1/templates", wanted)
    assert (status, body["error"]["code"]) == (403, "permission_denied")
    assert "socket" in body["error"]["message"]
    paddock("template", "add", "box", root).ok()
    listed = daemon.request("GET", "/paddock/v1/templates")[1]["templates"]
    box = next(row for row in listed if row["id"] == "box")
    assert "directory" not in box
    assert daemon.request("DELETE", "/paddock/v1/templates/box")[0] == 403
    assert daemon.request("DELETE", "/templates/box")[0] == 404
    daemon.create(templateID="box")


# ---- built from steps


@pytest.fixture
def package():
    """The unmodified npm package in a folder of its own."""
    return installed("e2b@2.51.0")


PRELUDE = """
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Sandbox, Template, waitForTimeout, waitForFile } from 'e2b'
const lines = []
const build = (template, name, options = {}) =>
  Template.build(template, name, { onBuildLogs: (line) => lines.push(line.message), ...options })
const out = async (sandbox, script, options) => (await sandbox.commands.run(script, options)).stdout
const has = (text) => lines.some((line) => line.includes(text))
const context = (files) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'context-'))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  return folder
}
const failure = async (promise) => {
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('nothing failed')
}
"""


@pytest.fixture
def sdk(package, daemon):
    return Sdk(package, daemon, prelude=PRELUDE)


def test_a_template_is_built_from_steps_and_sandboxes_are_made_of_it(sdk):
    sdk(
        """
const folder = context({ 'src/a.txt': 'a', 'src/deep/b.txt': 'b', 'one.txt': 'one' })
fs.symlinkSync('a.txt', path.join(folder, 'src', 'link'))
const template = Template({ fileContextPath: folder })
  .fromTemplate('base')
  .setEnvs({ GREETING: 'hello', LONGER: '$HOME:${GREETING}x' })
  .setEnvs({ LAST: '$GREETING again' })
  .runCmd(['mkdir -p made', 'echo "$GREETING $PWD" > made/file'])
  .copy('src/*', 'copied')
  .copy('one.txt', 'copied/renamed.txt', { mode: 0o640 })
  .copy('*.txt', '/home/user/all/')
  .makeSymlink('made', 'to-made')
  .setWorkdir('job/deeper')
  .runCmd('pwd > where && id -un >> where; echo to the log; echo and errors >&2')
const info = await build(template, 'app')
assert.match(info.templateId, /^[a-z0-9]+$/)
assert.match(info.buildId, /^[0-9a-f-]{36}$/)
assert.deepEqual(info.tags, ['default'])
assert(has('[stdout]: to the log') && has('[stderr]: and errors') && has('RUN mkdir'))
for (const name of ['app', 'app:default', info.templateId]) {
  const sandbox = await Sandbox.create(name)
  assert.equal(await out(sandbox, 'cat ~/made/file ~/to-made/file'), 'hello /home/user\\nhello /home/user\\n')
  assert.equal(await out(sandbox, 'cat where'), '/home/user/job/deeper\\nuser\\n')
  assert.equal(await out(sandbox, 'echo "$PWD $LONGER $LAST"'), '/home/user/job/deeper /home/user:x hello again\\n')
  assert.equal(await sandbox.files.read('where'), '/home/user/job/deeper\\nuser\\n')
  assert.equal(await out(sandbox, 'cd ~/copied && cat a.txt deep/b.txt renamed.txt; readlink link; stat -c %a renamed.txt; ls ~/all; stat -c %U . deep renamed.txt'),
    'abonea.txt\\n640\\none.txt\\nuser\\nuser\\nuser\\n')
  assert.equal(await out(sandbox, 'echo $GREETING', { envs: { GREETING: 'mine' } }), 'mine\\n')
  await sandbox.kill()
}
const mine = await Sandbox.create('app', { envs: { GREETING: 'of the sandbox' } })
assert.equal(await out(mine, 'echo $GREETING'), 'of the sandbox\\n')
// What holds for a template holds for what is made of its sandboxes.
const snapshot = await mine.createSnapshot()
const third = await Sandbox.create(snapshot.snapshotId)
assert.equal(await out(third, 'echo "$PWD $LAST"'), '/home/user/job/deeper hello again\\n')
"""
    )


def test_a_step_that_is_done_is_not_done_again(sdk):
    sdk(
        """
const steps = (folder, last) => Template({ fileContextPath: folder })
  .fromTemplate('base').runCmd('date +%N > first').setEnvs({ A: 'b' })
  .copy('f', 'f').runCmd('date +%N > second').runCmd(last)
const first = context({ f: '1' }), second = context({ f: '2' })
const stamps = async (name) => {
  const sandbox = await Sandbox.create(name)
  const seen = (await out(sandbox, 'cat first second f')).split('\\n')
  await sandbox.kill()
  return seen
}
await build(steps(first, 'true'), 'one')
assert(!has('CACHED'))
await build(steps(first, 'true'), 'two')
assert.equal(lines.filter((line) => line.startsWith('CACHED')).length, 5)
const [a, b, c] = await stamps('one')
assert.deepEqual(await stamps('two'), [a, b, c])
await build(steps(first, 'echo other'), 'three')
assert.deepEqual(await stamps('three'), [a, b, c])
// Other files: what lies before them stays.
await build(steps(second, 'true'), 'four')
const four = await stamps('four')
assert.equal(four[0], a)
assert.notEqual(four[1], b)
assert.equal(four[2], '2')
await build(steps(first, 'true'), 'five', { skipCache: true })
assert.notEqual((await stamps('five'))[0], a)
// A template over another one.
await build(Template().fromTemplate('four').runCmd('cp first third && echo $A > env'), 'six')
const sandbox = await Sandbox.create('six')
assert.equal(await out(sandbox, 'cat third env'), four[0] + '\\nb\\n')
"""
    )


def test_a_failing_step_fails_the_build_with_its_log(sdk, daemon, paddock):
    sdk(
        """
const failed = async (template) => failure(build(template, 'broken'))
let error = await failed(Template().fromTemplate('base').runCmd('true').runCmd('echo before; echo why >&2; exit 3'))
assert.equal(error.name, 'BuildError')
assert.match(error.message, /failed to run command .*exit status 3/)
assert(has('[stdout]: before') && has('[stderr]: why'))
error = await failed(Template().fromTemplate('base').runCmd('whoami', { user: 'root123' }))
assert.match(error.message, /failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'/)
error = await failed(Template().fromTemplate('base').setWorkdir('/proc/none'))
assert.match(error.message, /failed to make directory/)
error = await failed(Template({ fileContextPath: context({ f: '1' }) }).fromTemplate('base').copy('f', '/proc/f'))
assert.match(error.message, /failed to copy 'f' to '.proc.f'/)
error = await failed(Template().fromTemplate('none'))
assert.match(error.message, /template 'none' not found/)
error = await failed(Template().fromImage('ubuntu:22.04').runCmd('true'))
assert.match(error.message, /501.*image layer.*fromTemplate/)
assert.equal(await Template.exists('broken'), true)
assert.match((await failure(Sandbox.create('broken'))).message, /404.*'broken' not found/)
// One that fails leaves the one before as it was.
await build(Template().fromTemplate('base').runCmd('echo good > state'), 'broken')
await failed(Template().fromTemplate('base').runCmd('echo bad > state').runCmd('false'))
assert.equal(await out(await Sandbox.create('broken'), 'cat state'), 'good\\n')
"""
    )
    assert daemon.request("GET", "/v2/sandboxes")[1] != []
    states = [s["state"] for s in paddock("ps", "--json").ok().json()["sandboxes"]]
    assert states == ["running"]  # those of builds are gone


def test_the_start_command_runs_in_each_sandbox_once_it_is_ready(sdk):
    sdk(
        """
const template = Template().fromTemplate('base').setWorkdir('/home/user/srv').setEnvs({ WORD: 'w' })
  .setStartCmd('echo starting; sleep 0.5; echo "$WORD $PWD" > /dev/shm/ready; exec sleep 1000', 'test -e /dev/shm/ready')
await build(template, 'server')
assert(has('[finalize] starting') && has('starting'))
const check = async (sandbox) => {
  assert.equal(await out(sandbox, 'cat /dev/shm/ready'), 'w /home/user/srv\\n')
  assert.equal(await out(sandbox, 'pgrep -fc "^sleep 1000"'), '1\\n')
}
const sandbox = await Sandbox.create('server')
await check(sandbox)
const [fork] = await sandbox.fork()
await check(fork)
await sandbox.pause({ keepMemory: false })
await sandbox.connect()
await check(sandbox)
// With nothing to ask nobody waits.
await build(Template().fromTemplate('base').setStartCmd('exec sleep 999'), 'unasked')
assert.equal(await out(await Sandbox.create('unasked'), 'sleep 0.2; pgrep -fc "^sleep 999"'), '1\\n')
"""
    )


def test_users_of_templates(sdk):
    needs_root()
    sdk(
        """
const template = Template({ fileContextPath: context({ f: '1' }) }).fromTemplate('base')
  .runCmd('id -un > /root/as-root; id -un', { user: 'root' })
  .copy('f', '/srv/of-games', { user: 'games' })
  .copy('f', '/srv/of-user')
  .setUser('ann')
  .runCmd('id -un > who; pwd >> who')
  .copy('f', 'mine')
  .setWorkdir('/srv/place')
  .runCmd('touch here')
await build(template, 'users')
const sandbox = await Sandbox.create('users')
assert.equal(await out(sandbox, 'id -un; pwd; echo $HOME; cat ~/who'), 'ann\\n/srv/place\\n/home/ann\\nann\\n/home/ann\\n')
assert.equal(await out(sandbox, 'stat -c "%U %n" /srv/of-games /srv/of-user ~/mine here .'),
  'games /srv/of-games\\nuser /srv/of-user\\nann /home/ann/mine\\nann here\\nann .\\n')
assert.equal(await out(sandbox, 'id -un', { user: 'user' }), 'user\\n')
assert.equal(await out(sandbox, 'cat /root/as-root', { user: 'root' }), 'root\\n')
await sandbox.files.write('note', 'x')
assert.equal(await out(sandbox, 'stat -c %U /srv/place/note'), 'ann\\n')
await sandbox.pause({ keepMemory: false })
await sandbox.connect()
assert.equal(await out(sandbox, 'id -un'), 'ann\\n')
const as = await failure(build(Template().fromTemplate('base').setUser('-x'), 'bad'))
assert.match(as.message, /USER/)
"""
    )


def test_names_and_tags(sdk):
    sdk(
        """
const one = await build(Template().fromTemplate('base').runCmd('echo 1 > n'), 'app:v1', { tags: ['stable'] })
assert.deepEqual(one.tags, ['v1', 'stable'])
const two = await build(Template().fromTemplate('base').runCmd('echo 2 > n'), 'app:v2')
assert.equal(one.templateId, two.templateId)
const n = async (name) => {
  const sandbox = await Sandbox.create(name)
  const seen = await out(sandbox, 'cat n')
  await sandbox.kill()
  return seen.trim()
}
assert.deepEqual([await n('app:v1'), await n('app:stable'), await n('app:v2')], ['1', '1', '2'])
assert.match((await failure(Sandbox.create('app'))).message, /404/)  // nothing is called default
const given = await Template.assignTags('app:v2', ['default', 'stable'])
assert.equal(given.buildId, two.buildId)
assert.deepEqual([await n('app'), await n('app:stable')], ['2', '2'])
const tags = await Template.getTags('app')
assert.deepEqual(tags.map((t) => t.tag).sort(), ['default', 'stable', 'v1', 'v2'])
await Template.removeTags('app', ['default', 'v1'])
assert.match((await failure(Sandbox.create('app'))).message, /404/)
for (const bad of [':x', 'app:', 'x:y', '']) await failure(Template.assignTags('app:v2', bad))
await failure(Template.assignTags('app:', 'x'))
await failure(Template.assignTags('app:none', 'x'))
await failure(Template.getTags('nothing'))
assert.deepEqual([await Template.exists('app'), await Template.exists('base'), await Template.exists('no')], [true, true, false])
for (const taken of ['base', 'code-interpreter-v1', 'a b', 'tags']) {
  await failure(build(Template().fromTemplate('base'), taken))
}
"""
    )


def test_a_build_goes_on_by_itself_and_is_ended_with_its_template(sdk, daemon, paddock):
    sdk(
        """
const info = await Template.buildInBackground(Template().fromTemplate('base').runCmd('echo up; sleep 1000'), 'long')
let status
do {
  status = await Template.getBuildStatus(info, { logsOffset: 0 })
} while (!status.logEntries.some((line) => line.message.includes('[stdout]: up')))
assert.equal(status.status, 'building')
"""
    )
    assert daemon.request("GET", "/v2/sandboxes")[1] == []  # a client's list has none of a build
    (worker,) = paddock("ps", "--json").ok().json()["sandboxes"]
    assert daemon.request("GET", f"/sandboxes/{worker['id']}")[0] == 404
    listed = daemon.request("GET", "/templates")[1]
    assert [(t["names"], t["buildStatus"]) for t in listed] == [(["long"], "building")]
    detail = daemon.request("GET", f"/templates/{listed[0]['templateID']}")[1]
    assert [b["status"] for b in detail["builds"]] == ["building"]
    rows = paddock("template", "ls", "--json").ok().json()["templates"]
    assert ("long", "built", "building") in [(r["name"], r["kind"], r.get("state")) for r in rows]
    assert daemon.request("DELETE", "/templates/long")[0] == 204
    wait_for(lambda: paddock("ps", "--json").ok().json()["sandboxes"] == [])
    assert daemon.request("GET", "/templates")[1] == []
    assert daemon.request("DELETE", "/templates/long")[0] == 404


# ---- whose they are, and what is left


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Client:
    """The same calls as the SDK's, with a key."""

    def __init__(self, daemon, key="any"):
        self.daemon, self.headers = daemon, {"X-API-Key": key}

    def request(self, method, path, body=None):
        return self.daemon.request(method, path, body, self.headers)

    def ask(self, name="app", **fields):
        status, made, _ = self.request("POST", "/v3/templates", {"name": name, **fields})
        assert status == 202, made
        return made

    def begin(self, made, *steps, **fields):
        path = f"/v2/templates/{made['templateID']}/builds/{made['buildID']}"
        body = {"fromTemplate": "base", "steps": list(steps), **fields}
        return self.request("POST", path, body)

    def status(self, made):
        path = f"/templates/{made['templateID']}/builds/{made['buildID']}/status"
        return self.request("GET", path)[1]

    def build(self, *steps, name="app", **fields):
        made = self.ask(name)
        status, body, headers = self.begin(made, *steps, **fields)
        assert (status, body, headers["Content-Length"]) == (202, b"", "0"), body
        wait_for(lambda: self.status(made)["status"] != "building")
        return made, self.status(made)

    def upload(self, made, archive, hash="a" * 64):
        status, answer, _ = self.request("GET", f"/templates/{made['templateID']}/files/{hash}")
        assert status == 201
        return self.daemon.request("PUT", answer["url"].split(str(self.daemon.port), 1)[1], archive, {})


def run_step(command):
    return {"type": "RUN", "args": [command], "force": False}


def archive_of(**files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def copy_step(source, to, hash="a" * 64):
    return {"type": "COPY", "args": [source, to, "", ""], "filesHash": hash, "force": False}


def test_another_key_sees_nothing_of_a_template(daemon, paddock):
    secrets = [paddock("key", "create", n, "--json").ok().json()["secret"] for n in ("one", "two")]
    one, two = (Client(daemon, secret) for secret in secrets)
    made, status = one.build(run_step("echo mine > file"))
    assert status["status"] == "ready", status
    template, build = made["templateID"], made["buildID"]
    assert one.upload(made, archive_of(f=b"1"))[0] == 200
    for method, path, body in (
        ("GET", f"/templates/{template}", None),
        ("GET", f"/templates/{template}/builds/{build}/status", None),
        ("GET", f"/templates/{template}/builds/{build}/logs", None),
        ("POST", f"/v2/templates/{template}/builds/{build}", {"fromTemplate": "base"}),
        ("GET", f"/templates/{template}/files/{'a' * 64}", None),
        ("GET", "/templates/app/tags", None),
        ("GET", "/templates/aliases/app", None),
        ("POST", "/templates/tags", {"target": "app", "tags": ["x"]}),
        ("DELETE", "/templates/tags", {"name": "app", "tags": ["default"]}),
        ("DELETE", f"/templates/{template}", None),
        ("POST", "/v2/sandboxes", {"templateID": "app"}),
        ("POST", "/v2/sandboxes", {"templateID": template}),
    ):
        assert two.request(method, path, body)[0] == 404, path
    assert two.request("GET", "/templates")[1] == []
    # The same name is another template, and done steps and files are not shared.
    other = two.ask()
    assert other["templateID"] != template
    status, answer, _ = two.request("GET", f"/templates/{other['templateID']}/files/{'a' * 64}")
    assert (status, answer["present"]) == (201, False)
    assert two.begin(other, copy_step("f", "f"))[0] == 202
    wait_for(lambda: two.status(other)["status"] == "error")
    assert "not sent" in two.status(other)["reason"]["message"]
    _, status = two.build(run_step("echo mine > file"))
    assert not any(line.startswith("CACHED") for line in status["logs"])
    assert one.request("POST", "/v2/sandboxes", {"templateID": "app"})[0] == 201


def test_a_link_for_an_upload_is_good_for_one_file_and_no_other(daemon):
    client = Client(daemon)
    made = client.ask()
    status, answer, _ = client.request("GET", f"/templates/{made['templateID']}/files/{'b' * 64}")
    target = answer["url"].split(str(daemon.port), 1)[1]
    put = lambda path, data=b"x", **headers: daemon.request("PUT", path, data, headers)[0]  # noqa: E731
    assert put(target.replace("b" * 64, "c" * 64)) == 403
    assert put(target.replace("b" * 64, "../../paddock.db")) in (400, 403, 404)
    assert put(target.replace("keeper", "somebody")) == 403
    assert put(target.split("?")[0]) == 403
    assert put(target[:-1] + ("0" if target[-1] != "0" else "1")) == 403
    assert daemon.request("GET", target)[0] == 405
    path = f"/templates/{made['templateID']}/files/..%2f..%2fserver.key"
    assert client.request("GET", path)[0] == 400
    assert put(target) == 200
    path = f"/templates/{made['templateID']}/files/{'b' * 64}"
    assert client.request("GET", path)[1]["present"] is True


def test_an_archive_touches_nothing_outside_of_its_sandbox(daemon, paddock):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind, target in (
            ("../../../../escaped", tarfile.REGTYPE, ""),
            ("link", tarfile.SYMTYPE, "/etc"),
            ("link/escaped", tarfile.REGTYPE, ""),
            ("f", tarfile.REGTYPE, ""),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.size = kind, target, 0
            entry.uid = entry.gid = 2**21 - 1  # nobody's inside
            tar.addfile(entry, io.BytesIO())
    client = Client(daemon)
    made = client.ask()
    assert client.upload(made, out.getvalue())[0] == 200
    client.begin(made, copy_step("f", "f"))
    wait_for(lambda: client.status(made)["status"] != "building")
    found = [path for path in paddock.base.rglob("escaped") if "layers" not in path.parts]
    assert not os.path.exists("/etc/escaped") and not found
    _, status = client.build(copy_step("f", "f", "d" * 64), name="unsent")
    assert "not sent" in status["reason"]["message"] and status["reason"]["step"] == "1"
    assert client.upload(made, b"no archive", "e" * 64)[0] == 200
    _, status = client.build(copy_step("f", "f", "e" * 64), name="bad")
    assert "failed to copy 'f'" in status["reason"]["message"]


@pytest.fixture
def limited(paddock):
    folder = paddock.home / ".config" / "paddock"
    folder.mkdir(parents=True)
    (folder / "server.toml").write_text(
        'max_upload = "64k"\nmax_builds = 2\nbuild_timeout = "5s"\n'
    )


def test_builds_are_bounded_in_time_in_number_and_in_what_is_sent(limited, daemon, paddock):
    client = Client(daemon)
    made = client.ask()
    assert client.upload(made, b"x" * 65_537)[0] == 413
    assert client.upload(made, b"x" * 65_536)[0] == 200
    assert client.begin(made, run_step("sleep 1000"))[0] == 202
    status, body, _ = client.begin(client.ask("other"), run_step("true"))
    assert status == 429 and "too many builds" in body["message"]
    assert client.begin(made, run_step("true"))[0] == 409  # it has begun
    wait_for(lambda: client.status(made)["status"] == "error")
    assert "time of the build is up" in client.status(made)["reason"]["message"]
    wait_for(lambda: paddock("ps", "--json").ok().json()["sandboxes"] == [])
    _, status = client.build(startCmd="echo broken", readyCmd="exit 7", name="never")
    assert "ready command did not succeed" in status["reason"]["message"]
    assert "exit status 7" in status["reason"]["message"] and status["reason"]["step"] == "finalize"
    assert any("[stdout]: broken" in line for line in status["logs"])
    _, status = client.build(run_step("true"), name="after")
    assert status["status"] == "ready"


POINTS = ["upload.written", "build.begun", "live.create.started", "build.step.sealed",
          "build.step.recorded", "build.done", "build.recorded"]  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_during_a_build_leaves_it_failed_or_whole_and_nothing_behind(daemons, paddock, point):
    daemon = daemons(env={"PADDOCK_DIE_AT": point})
    client = Client(daemon)
    made = None
    with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
        made = client.ask()
        client.upload(made, archive_of(f=b"1"))
        client.begin(made, copy_step("f", "f"), run_step("echo done > g"))
        while client.status(made)["status"] == "building":
            time.sleep(0.02)
    daemon.process.wait(PATIENCE)
    daemon = daemons()
    client = Client(daemon)
    assert paddock("ps", "--json").ok().json()["sandboxes"] == []
    status = client.status(made)
    if point == "build.recorded":
        assert status["status"] == "ready"
    else:
        assert (status["status"], "server ended" in status["reason"]["message"]) == ("error", True)
        assert client.request("POST", "/v2/sandboxes", {"templateID": "app"})[0] == 404
    assert not list((paddock.state / "sandboxes").glob("[!.]*"))
    for folder in (paddock.state / "uploads").iterdir():
        assert not list(folder.glob(".new-*"))
    made = client.ask()
    assert client.upload(made, archive_of(f=b"1"))[0] == 200
    client.begin(made, copy_step("f", "f"), run_step("echo done > g"))
    wait_for(lambda: client.status(made)["status"] != "building")
    status = client.status(made)
    assert status["status"] == "ready", status
    sandbox = daemon.create(templateID="app")
    assert daemon.start(sandbox, "cat f g") == (b"1done\n", 0)
    # Nothing is kept that nobody can name: the layers of two steps, of the template, the sandbox's.
    daemon.request("DELETE", f"/sandboxes/{sandbox['sandboxID']}")
    assert daemon.request("DELETE", "/templates/app")[0] == 204
    wait_for(lambda: len([n for n in os.listdir(paddock.state / "layers") if n != "below"]) <= 2)


def test_a_template_outlives_the_daemon(daemons, paddock):
    client = Client(daemons())
    _, status = client.build(
        {"type": "ENV", "args": ["A", "b"]},
        {"type": "WORKDIR", "args": ["job"]},
        run_step("echo kept > file"),
        startCmd="echo up > started; exec sleep 1000",
        readyCmd="test -e started",
    )
    assert status["status"] == "ready", status
    sandbox = client.daemon.create(templateID="app", timeout=600)
    client.daemon.kill()
    daemon = daemons()
    seen = "cat file started; echo $A $PWD"
    expected = (b"kept\nup\nb /home/user/job\n", 0)
    assert daemon.start(sandbox, seen) == expected
    paddock("restart", sandbox["sandboxID"]).ok()
    assert daemon.start(sandbox, seen) == expected
    assert daemon.start(daemon.create(templateID="app"), seen) == expected
    assert Client(daemon).request("GET", "/templates/aliases/app")[0] == 200
