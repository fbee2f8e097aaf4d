"""Other users of a live sandbox: commands and files as root, and `sudo` that stays inside."""

from support.host import ROOT, needs, needs_root

SEVEN = f"{0xFB:016x}"  # CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID


def said(daemon, sandbox, script):
    out, code = daemon.start(sandbox, f"{script}; exit 0")
    return out.decode()


def test_a_sandbox_of_an_ordinary_users_daemon_has_one_user(daemon, sdk):
    needs("ordinary-user", not ROOT, "root's daemon gives several users")
    sdk(
        """
    const s = await Sandbox.create()
    await assert.rejects(s.commands.run('true', { user: 'root' }), /one user.*let root start/)
    await assert.rejects(s.files.write('/root/x', 'x', { user: 'root' }))
    await assert.rejects(s.commands.run('true', { user: 'nobody9' }), /invalid username/)
    assert.equal((await s.commands.run('test -S /run/paddock/sudo || echo none')).stdout, 'none\\n')
    await s.kill()
    """
    )


def test_commands_and_files_of_root_are_roots(sdk):
    needs_root()
    sdk(
        """
    const s = await Sandbox.create()
    const user = 'root'
    const r = await s.commands.run('id -un; pwd; echo $HOME $USER', { user })
    assert.equal(r.stdout, 'root\\n/root\\n/root root\\n')
    assert.equal((await s.files.write('f', 'x', { user })).path, '/root/f')
    assert.equal((await s.files.getInfo('/root/f')).owner, 'root')
    assert.equal(await s.files.read('f', { user }), 'x')
    await assert.rejects(s.commands.run('cat /root/f'))
    const url = await s.downloadUrl('f', { user })
    assert.equal(await (await fetch(url)).text(), 'x')
    const form = new FormData()
    form.append('file', new Blob(['up']), 'g')
    assert.equal((await fetch(await s.uploadUrl('g', { user }), { method: 'POST', body: form })).status, 200)
    assert.equal((await s.commands.run('stat -c %U /root/g', { user })).stdout, 'root\\n')
    assert.equal((await s.commands.run('id -un', { user: 'nobody' })).stdout, 'nobody\\n')
    assert.equal((await s.commands.run('id', { user: 'www-data' })).stdout,
      'uid=33(www-data) gid=33(www-data) groups=33(www-data)\\n')
    await assert.rejects(s.commands.run('true', { user: 'nobody9' }), /invalid username/)
    const pty = await s.pty.create({ cols: 80, rows: 24, user, onData: () => {} })
    await s.pty.sendInput(pty.pid, new TextEncoder().encode('id -u > /tmp/id; exit\\n'))
    await pty.wait()
    assert.equal(await s.files.read('/tmp/id'), '0\\n')
    await s.kill()
    """
    )


def test_files_of_the_user_reach_everywhere_and_stay_the_users(sdk):
    needs_root()
    sdk(
        """
    const s = await Sandbox.create()
    await s.files.write('/usr/local/bin/tool', '#!/bin/sh\\necho made')
    assert.equal((await s.files.getInfo('/usr/local/bin/tool')).owner, 'user')
    await s.commands.run('chmod +x /usr/local/bin/tool')
    assert.equal((await s.commands.run('tool')).stdout, 'made\\n')
    await s.files.write([{ path: '/0', data: 'zero' }, { path: '/data/1', data: 'one' }])
    assert.equal((await s.commands.run('cat /0 /data/1; sudo mkdir /srv/x /y; stat -c %U /y')).stdout,
      'zerooneroot\\n')
    await assert.rejects(s.commands.run('touch /z 2>/dev/null'))
    await s.files.makeDir('/opt/a/b')
    assert.equal((await s.commands.run('stat -c %U /opt/a')).stdout, 'user\\n')
    await s.commands.run('sudo touch /usr/local/roots')
    await s.files.remove('/usr/local/roots')
    assert.equal(await s.files.exists('/usr/local/roots'), false)
    await s.kill()
    """
    )


def test_sudo_runs_as_root_and_as_others(daemon):
    needs_root()
    sandbox = daemon.create()
    assert (
        said(daemon, sandbox, "sudo id -u; sudo -u nobody id -un; sudo -nu user id -un")
        == "0\nnobody\nuser\n"
    )
    assert said(daemon, sandbox, "sudo touch /usr/bin/new && ls /usr/bin/new") == "/usr/bin/new\n"
    assert (
        said(daemon, sandbox, "cd /tmp; sudo pwd; sudo -D /opt pwd; sudo -i pwd")
        == "/tmp\n/opt\n/root\n"
    )
    assert said(daemon, sandbox, "sudo sudo id -u; sudo -u user sudo id -u") == "0\n0\n"
    assert said(daemon, sandbox, "sudo -v && sudo -l | grep -c NOPASSWD") == "1\n"


def test_sudo_resets_the_environment_as_debians_does(daemon):
    needs_root()
    sandbox = daemon.create()
    script = "export FOO=bar; "
    assert (
        said(daemon, sandbox, script + 'sudo sh -c "echo [$FOO] [\\$FOO] \\$HOME \\$SUDO_USER"')
        == "[bar] [] /root user\n"
    )
    assert (
        said(daemon, sandbox, script + "sudo -E sh -c 'echo $FOO'; sudo X=1 sh -c 'echo $X'")
        == "bar\n1\n"
    )


def test_sudo_carries_input_output_status_and_signals(daemon):
    needs_root()
    sandbox = daemon.create()
    assert (
        said(daemon, sandbox, "echo text | sudo cat; sudo sh -c 'echo err >&2' 2>&1")
        == "text\nerr\n"
    )
    assert said(daemon, sandbox, "sudo sh -c 'exit 7'; echo $?") == "7\n"
    assert said(daemon, sandbox, "sh -c 'sudo sh -c \"kill -9 \\$\\$\"'; echo $?") == "137\n"
    assert said(daemon, sandbox, "sudo nonsense; echo $?") == "1\n"
    script = "sudo sh -c 'trap \"echo got; exit 5\" TERM; echo ready; while :; do sleep 0.1; done' > out & sleep 1; kill $!; wait $!; echo $?; cat out"
    assert said(daemon, sandbox, script) == "5\nready\ngot\n"
    assert said(daemon, sandbox, "head -c 3000000 /dev/zero | sudo cat | wc -c") == "3000000\n"


def test_what_sudo_runs_dies_with_the_command_and_what_it_left_behind_stays(sdk):
    needs_root()
    sdk(
        """
    const s = await Sandbox.create()
    const c = await s.commands.run('sudo sleep 4321', { background: true })
    const count = async () => (await s.commands.run('pgrep -fc "^sleep 4321" || true')).stdout.trim()
    for (let i = 0; i < 100 && await count() !== '1'; ++i) await new Promise(r => setTimeout(r, 50))
    assert.equal(await count(), '1')
    await c.kill()
    for (let i = 0; i < 100 && await count() !== '0'; ++i) await new Promise(r => setTimeout(r, 50))
    assert.equal(await count(), '0')
    await s.commands.run('sudo sh -c "sleep 4321 > /dev/null 2>&1 &"')
    await new Promise(r => setTimeout(r, 300))
    assert.equal(await count(), '1')
    await s.commands.run('sudo pkill -f "^sleep 4321"')
    assert.equal(await count(), '0')
    await s.kill()
    """
    )


def test_sudo_works_in_a_terminal(sdk):
    needs_root()
    sdk(
        """
    const s = await Sandbox.create()
    let text = ''
    const pty = await s.pty.create({ cols: 80, rows: 24, onData: d => { text += new TextDecoder().decode(d) } })
    await s.pty.sendInput(pty.pid, new TextEncoder().encode('sudo sh -c "test -t 0 && stty size && id -u"; exit\\n'))
    await pty.wait()
    assert.match(text, /24 80\\r?\\n0\\r?\\n/)
    await s.kill()
    """
    )


def test_users_signal_their_processes_across_commands(sdk):
    sdk(
        """
    const s = await Sandbox.create()
    const sleeper = await s.commands.run('sleep 4322', { background: true })
    await s.commands.run('kill ' + sleeper.pid)
    const end = await sleeper.wait().catch(e => e)
    assert.equal(end.exitCode, -1, String(end))
    await s.kill()
    """
    )


def test_the_detail_says_what_root_inside_holds(daemon):
    needs_root()
    sandbox = daemon.create()
    detail = daemon.request("GET", f"/sandboxes/{sandbox['sandboxID']}")[1]
    controls = {control["name"]: control for control in detail["decision"]["controls"]}
    assert "SETUID" in controls["capabilities"]["detail"]
    status = said(daemon, sandbox, "sudo grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    fields = dict(line.split(":\t") for line in status.splitlines())
    assert fields == {
        "CapInh": SEVEN,
        "CapPrm": SEVEN,
        "CapEff": SEVEN,
        "CapBnd": "0" * 16,
        "CapAmb": SEVEN,
        "NoNewPrivs": "1",
        "Seccomp": "2",
    }
    user = said(daemon, sandbox, "grep -E '^Cap' /proc/self/status")
    assert {line.split(":\t")[1] for line in user.splitlines()} == {"0" * 16}
