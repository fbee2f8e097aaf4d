"""Snapshots, forks, and what is left of them."""
import contextlib
import os
import subprocess
import time
from http.client import IncompleteRead

import pytest
from support.daemon import Daemon
from support.host import needs_root
from support.waiting import eventually


def run(daemon, sandbox, script):
    return daemon.start(sandbox, script)[0]


def snapshot(daemon, sandbox, **fields):
    path = f"/sandboxes/{sandbox['sandboxID']}/snapshots"
    status, made, _ = daemon.request("POST", path, fields)
    assert status == 201, made
    return made


def fork(daemon, sandbox, **fields):
    status, made, _ = daemon.request("POST", f"/sandboxes/{sandbox['sandboxID']}/fork", fields)
    assert status == 201, made
    return [item["sandbox"] for item in made]


def kill(daemon, sandbox):
    assert daemon.request("DELETE", f"/sandboxes/{sandbox['sandboxID']}")[0] == 204


def layers(paddock, count=None):
    """Those on disk: once there are so many of them, for what is removed goes in its own time."""
    folder = paddock.state / "layers"
    return eventually(
        lambda: sorted(n for n in os.listdir(folder) if n != "below"),
        lambda found: count in (None, len(found)),
    )


WHAT = "-not -name .cache -not -name tick"
TREE = (
    f"find . {WHAT} -printf '%P %y %m %l\\n' | sort; "
    f"find . -type f {WHAT} | sort | xargs sha256sum"
)
MAKE = """
mkdir -p app/deep && echo one > app/one && echo two > app/deep/two && ln -s one app/link
printf 'x' > app/mode && chmod 640 app/mode && ln app/one app/hard && mkfifo app/fifo
rm -f app/deep/two && mkdir app/empty && chmod 711 app/empty; echo out of the way > /tmp/t
"""
BUSY = (
    "(exec setsid sh -c 'while :; do date +%N > tick; sleep 0.01; done') >/dev/null 2>&1 & sleep 0.3"
)


def test_a_sandbox_is_made_from_the_snapshot_of_an_idle_one(daemon):
    source = daemon.create(timeout=600)
    run(daemon, source, MAKE)
    tree = run(daemon, source, TREE)
    made = snapshot(daemon, source, name="one")
    assert made["guarantee"] == "quiesced" and made["names"] == ["one:default"]
    run(daemon, source, "rm -r app; echo later > later")
    for name in (made["snapshotID"], "one", "one:default"):
        sandbox = daemon.create(templateID=name)
        assert run(daemon, sandbox, TREE) == tree
        assert run(daemon, sandbox, "cat /tmp/t") == b"out of the way\n"
        run(daemon, sandbox, "echo changed > app/one")
    assert run(daemon, source, "ls -A | grep -v '^\\.'") == b"later\n"


def test_while_commands_run_they_go_on_and_the_snapshot_says_so(daemon):
    source = daemon.create(timeout=600)
    run(daemon, source, MAKE + BUSY)
    pid = run(daemon, source, "pgrep -f '[w]hile :'").split()[0]
    made = snapshot(daemon, source)
    assert (made["guarantee"], made["memory"]) == ("crash-consistent", False)
    sandbox = daemon.create(templateID=made["snapshotID"])
    assert pid in run(daemon, source, "pgrep -f '[w]hile :'").split()
    first = run(daemon, source, "cat tick")
    time.sleep(0.1)
    assert run(daemon, source, "cat tick") != first
    assert run(daemon, sandbox, "pgrep -f '[w]hile :' || echo none") == b"none\n"
    assert run(daemon, sandbox, TREE) == run(daemon, source, TREE)


def test_forks_and_their_source_do_not_see_each_other(daemon):
    source = daemon.create(timeout=600, envVars={"MINE": "yes"}, metadata={"k": "v"})
    run(daemon, source, "echo before > file; mkdir d; echo x > d/x")
    forks = fork(daemon, source, count=3)
    everyone = [source, *forks]
    for number, sandbox in enumerate(everyone):
        run(daemon, sandbox, f"echo {number} > file; rm d/x; echo {number} > mine{number}")
    for number, sandbox in enumerate(everyone):
        seen = run(daemon, sandbox, "cat file; ls d mine*; echo $MINE").decode()
        assert seen == f"{number}\nmine{number}\n\nd:\nyes\n", seen
    for secret in (
        lambda s: s["sandboxID"],
        lambda s: s["envdAccessToken"],
        lambda s: run(daemon, s, "cat /etc/machine-id"),
        lambda s: run(daemon, s, "cat /proc/sys/kernel/random/boot_id"),
    ):
        assert len({secret(sandbox) for sandbox in everyone}) == len(everyone)
    listed = daemon.request("GET", "/v2/sandboxes?metadata=k%3Dv")[1]
    assert {s["sandboxID"] for s in listed} == {s["sandboxID"] for s in everyone}


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_twenty_thousand_files_come_through_alike(daemon, busy):
    source = daemon.create(timeout=600)
    run(
        daemon,
        source,
        "python3 -c \"import os\nfor d in range(200):\n os.makedirs(f't/{d}')\n"
        " for f in range(100): open(f't/{d}/{f}', 'w').write(f'{d} {f}' * 9)\"",
    )
    count = "find t -type f | sort | xargs cat | sha256sum; find t | wc -l"
    expected = run(daemon, source, count)
    assert expected.split()[-1] == b"20201"
    if busy:
        run(daemon, source, BUSY)
    made = snapshot(daemon, source)
    assert made["guarantee"] == ("crash-consistent" if busy else "quiesced")
    assert run(daemon, daemon.create(templateID=made["snapshotID"]), count) == expected


def test_of_a_paused_sandbox_too(daemon):
    source = daemon.create(timeout=600)
    for memory in (True, False):
        run(daemon, source, f"echo {memory} > file")
        path = f"/sandboxes/{source['sandboxID']}"
        assert daemon.request("POST", path + "/pause", {"memory": memory})[0] == 204
        made = snapshot(daemon, source)
        assert daemon.request("GET", path)[1]["state"] == "paused"
        sandbox = daemon.create(templateID=made["snapshotID"])
        assert run(daemon, sandbox, "cat file") == f"{memory}\n".encode()
        assert daemon.request("POST", "/v2" + path + "/connect", {})[0] == 201
        assert run(daemon, source, "cat file") == f"{memory}\n".encode()


def test_snapshots_are_listed_and_deleted_and_their_layers_with_them(daemon, paddock):
    source = daemon.create(timeout=600)
    made = [snapshot(daemon, source, name=f"n{n}")["snapshotID"] for n in range(3)]
    listed = daemon.request("GET", "/snapshots?limit=2")
    assert [s["snapshotID"] for s in listed[1]] == made[:0:-1]
    rest = daemon.request("GET", f"/snapshots?nextToken={listed[2]['X-Next-Token']}")
    assert [s["snapshotID"] for s in rest[1]] == made[:1]
    assert [s["snapshotID"] for s in daemon.request("GET", "/snapshots?name=n1")[1]] == [made[1]]
    assert daemon.request("GET", "/snapshots?sandboxID=nobody")[1] == []
    user = daemon.create(templateID=made[2])
    for one in made:
        assert daemon.request("DELETE", f"/templates/{one}")[0] == 204
        assert daemon.request("DELETE", f"/templates/{one}")[0] == 404
    assert daemon.request("POST", "/v2/sandboxes", {"templateID": made[0]})[0] == 404
    kill(daemon, source)
    assert layers(paddock) != []
    assert run(daemon, user, "echo it works") == b"it works\n"
    kill(daemon, user)
    assert layers(paddock, 0) == []


def test_what_cannot_be_is_refused(daemon):
    source = daemon.create()
    path = f"/sandboxes/{source['sandboxID']}"
    for body in ({"count": 0}, {"count": 101}, {"count": "2"}, {"timeout": 0}):
        assert daemon.request("POST", path + "/fork", body)[0] == 400, body
    for name in ("../x y", "a" * 200, "ä"):
        assert daemon.request("POST", path + "/snapshots", {"name": name})[0] == 400, name
    assert daemon.request("POST", "/sandboxes/nope/fork", {})[0] == 404
    assert daemon.request("DELETE", "/templates/base")[0] == 404


def test_a_snapshot_outlives_the_daemon_and_a_killed_one_leaves_nothing_else(paddock):
    first = Daemon(paddock)
    source = first.create(timeout=600)
    run(first, source, "echo kept > file; head -c 200000000 /dev/urandom > big")
    made = snapshot(first, source)
    run(first, source, "head -c 200000000 /dev/urandom > other; " + BUSY)
    known = set(layers(paddock))
    busy = subprocess.Popen(
        ["curl", "-s", "-XPOST", f"{first.url}/sandboxes/{source['sandboxID']}/snapshots"]
        + ["-HX-API-Key: any", "-d", "{}"],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while set(os.listdir(paddock.state / "layers")) - {"below"} == known:
        assert time.monotonic() < deadline and busy.poll() is None
        time.sleep(0.002)
    first.kill()
    busy.wait()
    second = Daemon(paddock)
    try:
        listed = second.request("GET", "/snapshots")[1]
        assert [s["snapshotID"] for s in listed] == [made["snapshotID"]]
        assert len(layers(paddock, 1)) == 1
        sandbox = second.create(templateID=made["snapshotID"])
        assert run(second, sandbox, "cat file; stat -c %s big") == b"kept\n200000000\n"
    finally:
        assert second.stop() == 0


def test_on_a_full_disk_a_snapshot_fails_and_leaves_nothing(paddock):
    needs_root()
    paddock.state.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m,mode=0700", "paddock-test", paddock.state]
    subprocess.run(mount, check=True)
    try:
        daemon = Daemon(paddock)
        source = daemon.create(timeout=600)
        run(daemon, source, "head -c 40000000 /dev/urandom > big; " + BUSY)
        before = layers(paddock)
        path = f"/sandboxes/{source['sandboxID']}/snapshots"
        status, body, _ = daemon.request("POST", path, {})
        assert status == 507 and "No space left" in body["message"], body
        assert daemon.request("GET", "/snapshots")[1] == []
        assert layers(paddock, len(before)) == before
        assert run(daemon, source, "stat -c %s big; pgrep -fc '[w]hile :'") == b"40000000\n1\n"
        assert daemon.stop() == 0
    finally:
        subprocess.run(["umount", "-l", paddock.state], check=True)


def test_the_sdk_snapshots_forks_and_pauses(sdk):
    sdk(
        """
    const s = await Sandbox.create({ timeoutMs: 120_000 })
    await s.files.write('file', 'before')
    const snapshot = await s.createSnapshot({ name: 'mine' })
    const other = await Sandbox.create(snapshot.snapshotId)
    assert.equal(await other.files.read('file'), 'before')
    await other.files.write('file', 'other')
    // Older clients know of no forks.
    const [fork] = s.fork ? await s.fork() : [await Sandbox.create(snapshot.snapshotId)]
    assert.equal(await fork.files.read('file'), 'before')
    assert.equal(await s.files.read('file'), 'before')
    const sleeper = await s.commands.run('sleep 1000', { background: true })
    assert.equal(await s.pause(), true)
    assert.equal(await s.pause(), false)
    assert.equal(await s.isRunning(), false)
    await s.connect()
    assert.ok((await s.commands.list()).some(c => c.pid === sleeper.pid))
    const ids = (await s.listSnapshots().nextItems()).map(x => x.snapshotId)
    assert.deepEqual(ids, [snapshot.snapshotId])
    assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
    assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
    for (const one of [s, other, fork]) assert.equal(await one.kill(), true)
    """
    )


def test_what_is_written_beyond_the_limit_ends_the_sandbox_with_the_reason(paddock):
    """Its sum is looked at: the kernel keeps no quota on the host's disk."""
    (paddock.home / ".config" / "paddock").mkdir(parents=True, exist_ok=True)
    (paddock.home / ".config" / "paddock" / "policy.toml").write_text('[limits]\ndisk = "20M"\n')
    daemon = Daemon(paddock)
    small, big = daemon.create(), daemon.create()
    script = "for i in 1 2 3; do head -c 4000000 /dev/zero > f$i; done; sleep 4; echo whole"
    assert run(daemon, small, script) == b"whole\n"
    # It may be ended before the answer is.
    with contextlib.suppress(IncompleteRead):
        run(daemon, big, "for i in 1 2 3; do head -c 9000000 /dev/urandom > f$i; done")
    for _ in range(100):
        if daemon.request("GET", f"/sandboxes/{big['sandboxID']}")[0] == 404:
            break
        time.sleep(0.1)
    assert daemon.request("GET", f"/sandboxes/{big['sandboxID']}")[0] == 404
    assert daemon.request("GET", f"/sandboxes/{small['sandboxID']}")[0] == 200
    assert daemon.stop() == 0


def test_nobodys_name_hides_another_keys_snapshot_or_a_template(daemon, paddock):
    """The newest of a name is the newest that the caller may see."""
    keys = [paddock("key", "create", who, "--json").ok().json()["secret"] for who in ("a", "b")]

    def ask(key, method, path, body=None):
        return daemon.request(method, path, body, {"X-API-Key": key})[:2]

    made = {}
    for key in keys:
        source = ask(key, "POST", "/v2/sandboxes", {"templateID": "base"})[1]["sandboxID"]
        status, snapshot = ask(key, "POST", f"/sandboxes/{source}/snapshots", {"name": "tools"})
        assert status == 201, snapshot
        made[key] = snapshot["snapshotID"]
        status, refused = ask(key, "POST", f"/sandboxes/{source}/snapshots", {"name": "base"})
        assert status == 400 and "built-in" in refused["message"], refused
    for key, other in (keys, keys[::-1]):
        assert ask(key, "POST", "/v2/sandboxes", {"templateID": "tools"})[0] == 201
        assert ask(key, "POST", "/v2/sandboxes", {"templateID": made[other]})[0] == 404
        assert ask(key, "POST", "/paddock/v1/sandboxes", {"template": "tools"})[0] == 201
        assert ask(key, "POST", "/paddock/v1/sandboxes", {"template": made[other]})[0] == 404
    assert ask(keys[0], "DELETE", "/templates/tools")[0] == 204
    assert ask(keys[0], "POST", "/v2/sandboxes", {"templateID": "tools"})[0] == 404
    assert ask(keys[1], "POST", "/v2/sandboxes", {"templateID": "tools"})[0] == 201
