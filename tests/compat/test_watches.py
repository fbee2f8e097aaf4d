"""Watches of directories: as E2B's SDK streams them, and as clients ask for them from time to time."""


class Watcher:
    """The polled form, which E2B's synchronous Python client uses."""

    def __init__(self, daemon, sandbox, path, **fields):
        self.daemon, self.sandbox = daemon, sandbox
        self.name = self.call("CreateWatcher", path=path, **fields)["watcherId"]

    def call(self, method, status=200, **fields):
        path = f"/filesystem.Filesystem/{method}"
        answer = self.daemon.inside(self.sandbox, "POST", path, fields)
        assert answer[0] == status, answer
        return answer[1]

    def events(self):
        found = self.call("GetWatcherEvents", watcherId=self.name).get("events", [])
        return [
            (event["type"].removeprefix("EVENT_TYPE_").lower(), event["name"]) for event in found
        ]

    def write(self, path, text="x"):
        status, answer, _ = self.daemon.inside(
            self.sandbox,
            "POST",
            f"/files?path={path}",
            text.encode(),
            {"Content-Type": "application/octet-stream"},
        )
        assert status == 200, answer


def test_a_watch_streams_what_happens_to_files(sdk):
    sdk(
        """
    const s = await Sandbox.create()
    await s.files.write('w/there', 'old')
    const seen = []
    const handle = await s.files.watchDir('w', e => seen.push(`${e.type} ${e.name}`))
    await s.commands.run('cd w; echo x >> there; mkdir d; chmod 600 there; mv there other; rm other')
    for (let i = 0; i < 100 && !seen.includes('remove other'); ++i)
      await new Promise(r => setTimeout(r, 50))
    assert.deepEqual(seen,
      ['write there', 'create d', 'chmod there', 'rename there', 'create other', 'remove other'])
    await handle.stop()
    await assert.rejects(s.files.watchDir('nope', () => {}), e2b.NotFoundError)
    await assert.rejects(s.files.watchDir('/etc/passwd', () => {}), e2b.InvalidArgumentError)
    await s.kill()
    """
    )


def test_a_recursive_watch_misses_nothing_of_trees_that_grow_quickly(sdk):
    sdk(
        """
    const s = await Sandbox.create()
    await s.files.makeDir('w')
    const made = new Map()
    const handle = await s.files.watchDir('w', e => {
      if (e.type === 'create') made.set(e.name, (made.get(e.name) ?? 0) + 1)
    }, { recursive: true })
    await s.commands.run('cd w; for i in $(seq 40); do mkdir -p $i/a/b; echo > $i/a/b/f; done; echo > end')
    for (let i = 0; i < 200 && !made.has('end'); ++i) await new Promise(r => setTimeout(r, 50))
    for (let i = 1; i <= 40; ++i)
      for (const name of [`${i}`, `${i}/a`, `${i}/a/b`, `${i}/a/b/f`])
        assert.equal(made.get(name), 1, name)
    await handle.stop()
    await s.kill()
    """
    )


def test_a_stopped_watch_leaves_no_process(sdk):
    sdk(
        """
    const s = await Sandbox.create()
    const handle = await s.files.watchDir('.', () => {})
    const count = async () => (await s.commands.run('grep -lsz "^watch$" /proc/[0-9]*/cmdline | wc -l')).stdout.trim()
    assert.equal(await count(), '1')
    await handle.stop()
    for (let i = 0; i < 100 && await count() !== '0'; ++i) await new Promise(r => setTimeout(r, 50))
    assert.equal(await count(), '0')
    await s.kill()
    """
    )


def test_an_answer_has_all_that_happened_before_it_was_asked_for(daemon):
    sandbox = daemon.create()
    watcher = Watcher(daemon, sandbox, "/home/user")
    for i in range(30):
        watcher.write("f")
        first = [("create", "f"), ("chmod", "f"), ("write", "f")]
        assert watcher.events() == (first if i == 0 else [("write", "f")])
    assert watcher.events() == []
    assert watcher.call("RemoveWatcher", watcherId=watcher.name) == {}
    for method in ["GetWatcherEvents", "RemoveWatcher"]:
        assert watcher.call(method, 404, watcherId=watcher.name)["code"] == "not_found"


def test_a_watch_that_nobody_reads_says_that_events_were_lost(daemon):
    sandbox = daemon.create()
    watcher = Watcher(daemon, sandbox, "/home/user", includeEntry=True)
    program = "import os\nfor i in range(60000): n = str(i); open(n, 'w').close(); os.unlink(n)"
    assert daemon.start(sandbox, f'python3 -c "{program}"')[1] == 0
    for _ in range(1000):
        status, answer, _ = daemon.inside(
            sandbox, "POST", "/filesystem.Filesystem/GetWatcherEvents", {"watcherId": watcher.name}
        )
        if status != 200:
            break
    assert status == 500 and "events were lost" in answer["message"], answer


def test_one_sandbox_keeps_a_bounded_number_of_watches(daemon):
    sandbox = daemon.create()
    watcher = Watcher(daemon, sandbox, "/home/user")
    for _ in range(63):
        watcher.call("CreateWatcher", path=".")
    assert watcher.call("CreateWatcher", 429, path=".")["code"] == "resource_exhausted"
    other = daemon.create()
    assert watcher.name
    status, answer, _ = daemon.inside(
        other, "POST", "/filesystem.Filesystem/GetWatcherEvents", {"watcherId": watcher.name}
    )
    assert status == 404, answer
