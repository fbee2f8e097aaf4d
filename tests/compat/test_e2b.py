"""The unmodified npm package against a real `paddock serve`."""
import pytest
from support.host import ROOT


def test_a_key_is_right_wrong_or_somebody_elses(sdk, paddock):
    one, other = (
        paddock("key", "create", label, "--json").ok().json()["secret"] for label in ("a", "b")
    )
    made = sdk(
        """
    const s = await Sandbox.create()
    assert.equal((await s.commands.run('echo here')).stdout, 'here\\n')
    console.log(s.sandboxId)
    """,
        key=one,
    ).strip()
    sdk(
        f"""
    await assert.rejects(Sandbox.connect('{made}'), e => e instanceof e2b.NotFoundError)
    await assert.rejects(Sandbox.getInfo('{made}'), e => e instanceof e2b.NotFoundError)
    assert.equal(await Sandbox.kill('{made}'), false)
    assert.deepEqual(await Sandbox.list().nextItems(), [])
    """,
        key=other,
    )
    sdk("await assert.rejects(Sandbox.create(), e => e instanceof e2b.AuthenticationError)")
    sdk(f"assert.equal(await Sandbox.kill('{made}'), true)", key=one)


def test_a_sandbox_is_made_told_about_and_killed(sdk):
    sdk("""
    const s = await Sandbox.create({ metadata: { k: 'ä b&c' }, timeoutMs: 60_000 })
    assert.equal(await s.isRunning(), true)
    const info = await s.getInfo()
    assert.equal(info.sandboxId, s.sandboxId)
    assert.deepEqual(info.metadata, { k: 'ä b&c' })
    const before = info.endAt
    await s.setTimeout(600_000)
    assert.ok((await s.getInfo()).endAt > before)
    const found = await Sandbox.list({ query: { metadata: { k: 'ä b&c' } } }).nextItems()
    assert.deepEqual(found.map(x => x.sandboxId), [s.sandboxId])
    assert.equal((await Sandbox.list({ query: { metadata: { k: 'x' } } }).nextItems()).length, 0)
    const same = await Sandbox.connect(s.sandboxId)
    assert.equal((await same.commands.run('echo here')).stdout, 'here\\n')
    assert.equal(await s.kill(), true)
    assert.equal(await s.kill(), false)
    assert.equal(await s.isRunning(), false)
    await assert.rejects(s.commands.run('true'), e2b.SandboxError)
    """)


def test_an_unknown_template_is_said_to_be_unknown(sdk):
    sdk("await assert.rejects(Sandbox.create('nope'), /template 'nope' not found/)")


def test_a_gateway_that_is_not_there_is_the_clients_error_and_leaves_no_sandbox(sdk):
    """The client starts it, as root: a daemon of a user refuses that."""
    words = "Failed to start MCP gateway.*not found" if ROOT else "root"
    sdk(f"""
    const options = {{ mcp: {{ some: {{ key: 'value' }} }}, metadata: {{ k: 'gateway' }} }}
    await assert.rejects(Sandbox.create('base', options), /{words}/s)
    assert.deepEqual(await Sandbox.list().nextItems(), [])
    """)


def test_a_sandbox_ends_when_its_time_is_up(sdk):
    sdk("""
    const s = await Sandbox.create({ timeoutMs: 1_000 })
    const running = s.commands.run('sleep 60')
    await assert.rejects(running, e2b.SandboxError)
    assert.equal(await s.isRunning(), false)
    """)


def test_commands_give_output_status_and_environment(sdk):
    sdk("""
    const s = await Sandbox.create({ envs: { FOO: 'global', BAR: 'global' } })
    const r = await s.commands.run('echo "$FOO $BAR $HOME"; echo err >&2; pwd',
      { envs: { BAR: 'mine' }, cwd: '/tmp' })
    assert.equal(r.stdout, 'global mine /home/user\\n/tmp\\n')
    assert.equal(r.stderr, 'err\\n')
    await assert.rejects(s.commands.run('exit 3'), e => e.exitCode === 3)
    await assert.rejects(s.commands.run('kill -9 $$'), e => e.exitCode !== 0)
    await assert.rejects(s.commands.run('true', { cwd: '/nope' }), /cwd '\\/nope' does not exist/)
    await assert.rejects(s.commands.run('true', { user: 'nobody9' }), /invalid username/)
    await assert.rejects(s.commands.run('sleep 60', { timeoutMs: 500 }), e2b.TimeoutError)
    await s.kill()
    """)


def test_commands_and_files_are_the_users(sdk):
    sdk("""
    const s = await Sandbox.create()
    const r = await s.commands.run('whoami; stat -c %U:%G . ; id -u; grep Cap /proc/self/status')
    const [who, home, uid, ...caps] = r.stdout.trim().split('\\n')
    assert.equal(who, 'user')
    assert.equal(home, 'user:user')
    assert.notEqual(uid, '0')
    for (const line of caps) assert.match(line, /0000000000000000$/)
    await s.files.write('f', 'x')
    assert.equal((await s.files.getInfo('f')).owner, 'user')
    await assert.rejects(s.commands.run('echo x > /usr/bin/x'))
    await s.kill()
    """)


def test_output_comes_as_it_is_written(sdk):
    sdk("""
    const s = await Sandbox.create()
    const seen = []
    const begun = Date.now()
    await s.commands.run('for i in 1 2 3; do echo $i; sleep 0.3; done',
      { onStdout: d => seen.push([d, Date.now() - begun]) })
    assert.deepEqual(seen.map(x => x[0]), ['1\\n', '2\\n', '3\\n'])
    assert.ok(seen[2][1] - seen[0][1] > 400)
    const big = await s.commands.run('head -c 3000000 /dev/zero | tr "\\\\0" x')
    assert.equal(big.stdout.length, 3000000)
    await s.kill()
    """)


def test_input_signals_lists_and_reconnection(sdk):
    sdk("""
    const s = await Sandbox.create()
    const cat = await s.commands.run('cat', { background: true, stdin: true })
    await s.commands.sendStdin(cat.pid, 'data\\n')
    assert.deepEqual((await s.commands.list()).map(p => p.pid), [cat.pid])
    while (cat.stdout !== 'data\\n') await new Promise(r => setTimeout(r, 10))
    const again = await s.commands.connect(cat.pid)
    await s.commands.sendStdin(cat.pid, 'more\\n')
    await cat.disconnect()
    if (s.commands.closeStdin) await s.commands.closeStdin(cat.pid)
    else await s.commands.kill(cat.pid)
    const end = await again.wait().catch(e => e)
    assert.equal(end.stdout, 'more\\n')
    const sleeper = await s.commands.run('sleep 100 & sleep 100', { background: true })
    assert.equal(await s.commands.kill(sleeper.pid), true)
    await assert.rejects(sleeper.wait())
    assert.equal((await s.commands.run('pgrep -c sleep || true')).stdout, '0\\n')
    assert.equal(await s.commands.kill(999999), false)
    await assert.rejects(s.commands.connect(999999), e2b.NotFoundError)
    await s.kill()
    """)


def test_a_command_goes_on_when_its_client_leaves(sdk):
    sdk("""
    const s = await Sandbox.create()
    const c = await s.commands.run('sleep 1; echo done > done', { background: true })
    await c.disconnect()
    await new Promise(r => setTimeout(r, 1500))
    assert.equal(await s.files.read('done'), 'done\\n')
    await s.kill()
    """)


def test_a_terminal_has_a_size_and_an_end(sdk):
    sdk("""
    const s = await Sandbox.create()
    let text = ''
    const pty = await s.pty.create({ cols: 80, rows: 24,
      onData: d => { text += new TextDecoder().decode(d) } })
    await s.pty.resize(pty.pid, { cols: 100, rows: 30 })
    await s.pty.sendInput(pty.pid, new TextEncoder().encode('stty size; echo $((40+2)); exit\\n'))
    assert.equal((await pty.wait()).exitCode, 0)
    assert.match(text, /30 100/)
    assert.match(text, /42/)
    await s.kill()
    """)


def test_files_are_written_read_listed_moved_and_removed(sdk):
    sdk("""
    const s = await Sandbox.create()
    assert.equal((await s.files.write('dir/a.txt', 'Hello')).path, '/home/user/dir/a.txt')
    assert.equal(await s.files.read('dir/a.txt'), 'Hello')
    await s.files.write([{ path: '/tmp/one', data: '1' }, { path: 'dir/two', data: '' }])
    assert.equal(await s.files.read('/tmp/one'), '1')
    assert.equal(await s.files.read('dir/two'), '')
    assert.deepEqual((await s.files.list('dir')).map(e => e.name), ['a.txt', 'two'])
    assert.equal(await s.files.exists('nope'), false)
    await assert.rejects(s.files.read('nope'), e2b.NotFoundError)
    await assert.rejects(s.files.list('dir/a.txt'), e2b.InvalidArgumentError)
    assert.equal(await s.files.makeDir('new/deep'), true)
    assert.equal(await s.files.makeDir('new/deep'), false)
    await s.files.rename('dir/a.txt', 'new/b.txt')
    assert.equal(await s.files.read('new/b.txt'), 'Hello')
    await s.files.remove('dir')
    await s.files.remove('dir')
    assert.equal(await s.files.exists('dir'), false)
    await s.commands.run('ln -s /tmp/one link; chmod 600 /tmp/one')
    const info = await s.files.getInfo('link')
    assert.equal(info.symlinkTarget, '/tmp/one')
    assert.equal(info.mode, 0o600)
    assert.match(info.permissions, /^Lrwx/)
    await s.kill()
    """)


def test_files_come_in_every_form_that_clients_send(sdk):
    sdk("""
    const s = await Sandbox.create()
    const text = 'packed '.repeat(100_000)
    await s.files.write('gz', text, { gzip: true })
    assert.equal(await s.files.read('gz'), text)
    await s.files.write('octets', 'plain', { useOctetStream: true })
    assert.equal(await s.files.read('octets'), 'plain')
    await s.files.write('streamed', new Blob([text]).stream())
    assert.equal((await s.commands.run('wc -c < streamed')).stdout.trim(), String(text.length))
    const stream = await s.files.read('gz', { format: 'stream' })
    let length = 0
    for await (const piece of stream) length += piece.length
    assert.equal(length, text.length)
    await s.files.write('tagged', 'x', { metadata: { author: 'me' } })
    const { metadata } = await s.files.getInfo('tagged')
    assert.ok(metadata === undefined || metadata.author === 'me')
    await s.kill()
    """)


def test_large_files_come_back_whole(sdk):
    sdk("""
    import { createHash, randomBytes } from 'node:crypto'
    const s = await Sandbox.create()
    const data = randomBytes(50_000_000)
    await s.files.write('big', new Blob([data]))
    const sum = (await s.commands.run('sha256sum big')).stdout.split(' ')[0]
    assert.equal(sum, createHash('sha256').update(data).digest('hex'))
    const back = await s.files.read('big', { format: 'bytes' })
    assert.equal(createHash('sha256').update(back).digest('hex'), sum)
    await s.kill()
    """)


@pytest.fixture
def small_disk(paddock):
    """A user's policy, which the server's sandboxes follow."""
    policy = paddock.home / ".config" / "paddock" / "policy.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text('[limits]\ndisk = "64M"\n')


def test_a_full_disk_is_said_and_leaves_no_half_file(small_disk, sdk):
    sdk("""
    const s = await Sandbox.create()
    await s.commands.run('head -c 60M /dev/zero > fill')
    await assert.rejects(s.files.write('more', 'x'.repeat(10_000_000)), e2b.NotEnoughSpaceError)
    assert.equal(await s.files.exists('more'), false)
    await s.kill()
    """)


def test_signed_urls_work_without_any_header(sdk):
    sdk("""
    const s = await Sandbox.create()
    const other = await Sandbox.create()
    const up = await s.uploadUrl('f')
    const form = new FormData()
    form.append('file', new Blob(['signed']), 'ignored')
    assert.equal((await fetch(up, { method: 'POST', body: form })).status, 200)
    assert.equal(await (await fetch(await s.downloadUrl('f'))).text(), 'signed')
    assert.equal(await other.files.exists('f'), false)
    const url = new URL(await s.downloadUrl('f'))
    url.searchParams.set('path', '/etc/passwd')
    assert.equal((await fetch(url)).status, 401)
    await s.kill(); await other.kill()
    """)


def test_what_is_not_built_is_refused_by_name(sdk):
    sdk("""
    await assert.rejects(Sandbox.create({ network: { egressProxy: { address: 'p:1080' } } }), /egressProxy/)
    const s = await Sandbox.create({ allowInternetAccess: false })
    await s.kill()
    """)


def test_many_sandboxes_run_commands_beside_each_other(sdk):
    sdk("""
    const all = await Promise.all([...Array(8)].map(() => Sandbox.create()))
    const out = await Promise.all(all.flatMap((s, i) => [...Array(8)].map((_, j) =>
      s.commands.run(`echo ${i}.${j} > x${j}; cat x${j}; exit ${j}`).catch(e => e))))
    out.forEach((r, n) => {
      assert.equal(r.exitCode, n % 8)
      assert.equal(r.stdout, `${Math.floor(n / 8)}.${n % 8}\\n`)
    })
    await Promise.all(all.map(s => s.kill()))
    """)


def test_a_list_has_what_was_started_after_a_moment(sdk):
    sdk("""
    const s = await Sandbox.create()
    const { startedAt } = await s.getInfo()
    const ids = async startedAfter =>
      (await Sandbox.list({ query: { startedAfter } }).nextItems()).map(x => x.sandboxId)
    assert.deepEqual(await ids(startedAt), [s.sandboxId])
    assert.deepEqual(await ids(new Date(startedAt.getTime() + 1)), [])
    await s.kill()
    """)


def test_a_command_whose_sandbox_is_killed_says_so(sdk):
    sdk("""
    const s = await Sandbox.create()
    const sleeper = await s.commands.run('sleep 60', { background: true })
    await s.kill()
    const error = await sleeper.wait().catch(e => e)
    assert.ok(error instanceof e2b.TimeoutError, String(error))
    """)


def test_metrics_are_of_the_time_that_is_asked_for(sdk):
    sdk("""
    const s = await Sandbox.create()
    const begun = Date.now()
    assert.equal((await s.getMetrics()).length, 1)
    await new Promise(r => setTimeout(r, 1100))
    const range = { start: new Date(begun - 1000), end: new Date() }
    assert.ok((await s.getMetrics(range)).length >= 1)
    const before = { start: new Date(begun - 3_600_000), end: new Date(begun - 1_800_000) }
    assert.deepEqual(await s.getMetrics(before), [])
    await s.kill()
    """)
