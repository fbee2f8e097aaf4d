"""Template code-interpreter-v1, by the unmodified npm package."""
import subprocess

import pytest
from support.daemon import Daemon
from support.host import needs
from support.sdk import Sdk, installed

PRELUDE = """
import { Sandbox } from '@e2b/code-interpreter'
const only = execution => { assert.equal(execution.error, undefined); return execution.results[0] }
"""


def has(module):
    return subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode == 0


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock, "--egress", "none")
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def sdk(daemon):
    needs("ipykernel", has("ipykernel") and has("jupyter_client"), "not installed")
    return Sdk(installed("e2b@2.51.0", "@e2b/code-interpreter@2.8.0"), daemon, prelude=PRELUDE)


def test_state_persists_and_outputs_stream(sdk):
    sdk("""
    const s = await Sandbox.create({ envs: { OF_SANDBOX: 'yes' } })
    await s.runCode('x = 1')
    const run = await s.runCode('x += 1; x')
    assert.equal(run.text, '2')
    assert.equal(run.logs.stdout.length, 0)
    const times = []
    const printed = await s.runCode('import sys, time\\nfor i in range(3):\\n  print(i); time.sleep(0.4)\\nprint("e", file=sys.stderr)', {
      onStdout: () => times.push(Date.now()) })
    assert.equal(printed.logs.stdout.join(''), '0\\n1\\n2\\n')
    assert.equal(printed.logs.stderr.join(''), 'e\\n')
    assert.ok(times.at(-1) - times[0] > 500, 'as it comes')
    const env = 'import os; (os.environ.get("OF_SANDBOX"), os.environ.get("OF_RUN"))'
    assert.equal((await s.runCode(env, { envs: { OF_RUN: "it's" } })).text, `('yes', "it's")`)
    assert.equal((await s.runCode(env)).text, `('yes', None)`)
    assert.equal((await s.runCode('os.getcwd()')).text, '/home/user')
    await s.files.write('/home/user/f.txt', 'through files')
    assert.equal((await s.runCode('open("f.txt").read()')).text, 'through files')
    await s.kill()
    """)


def test_results_come_in_every_form(sdk):
    sdk("""
    const s = await Sandbox.create()
    const run = await s.runCode(`from IPython.display import *
display(HTML('<b>h</b>'), Markdown('# m'), Latex('$x^2$'), SVG('<svg width="1"/>'))
display(JSON({'a': [1]}), Javascript('1'))
display(Image(data=bytes.fromhex('89504e470d0a1a0a'), format='png'))
'last'`)
    const forms = run.results.map(r => r.formats().filter(f => f !== 'text')).flat()
    assert.deepEqual(forms, ['html', 'markdown', 'latex', 'svg', 'json', 'javascript', 'png'])
    assert.equal(run.results[0].html, '<b>h</b>')
    assert.deepEqual(run.results[4].json, { a: [1] })
    assert.equal(Buffer.from(run.results[6].png, 'base64')[1], 0x50)
    assert.equal(run.text, 'last')
    assert.deepEqual(run.results.map(r => r.isMainResult), [...Array(7).fill(false), true])
    await s.kill()
    """)


def test_plots_and_tables(sdk):
    needs("matplotlib", has("matplotlib") and has("pandas"), "not installed")
    sdk("""
    const s = await Sandbox.create()
    const plot = only(await s.runCode('import matplotlib.pyplot as plt\\nplt.plot([1, 2, 3]); plt.show()'))
    assert.equal(Buffer.from(plot.png, 'base64').toString('latin1', 1, 4), 'PNG')
    const table = only(await s.runCode('import pandas as pd\\npd.DataFrame({"a": [1, 2], "b": ["x", None]})'))
    assert.match(table.html, /<table/)
    assert.deepEqual(table.data, { a: [1, 2], b: ['x', null] })
    await s.kill()
    """)


def test_errors_carry_their_traceback(sdk):
    sdk("""
    const s = await Sandbox.create()
    const { error } = await s.runCode('def f():\\n  return 1 / 0\\nf()')
    assert.equal(error.name, 'ZeroDivisionError')
    assert.equal(error.value, 'division by zero')
    assert.match(error.traceback.replace(/\\x1b\\[[0-9;]*m/g, ''), /line 2, in f\\(\\)/)
    assert.equal((await s.runCode('def (')).error.name, 'SyntaxError')
    assert.equal((await s.runCode('input()')).error.name, 'StdinNotImplementedError')
    // An interpreter that dies says so, and the next run has a new one.
    assert.equal((await s.runCode('import os; os._exit(3)')).error.name, 'KernelDied')
    assert.equal((await s.runCode('1 + 1')).text, '2')
    await s.kill()
    """)


def test_contexts_are_apart(sdk):
    sdk("""
    const s = await Sandbox.create()
    await s.runCode('x = 1')
    const context = await s.createCodeContext({ cwd: '/tmp' })
    assert.deepEqual([context.language, context.cwd], ['python', '/tmp'])
    assert.equal((await s.runCode('x', { context })).error.name, 'NameError')
    await s.runCode('x = 2', { context })
    assert.equal((await s.runCode('import os; (x, os.getcwd())', { context })).text, "(2, '/tmp')")
    assert.equal((await s.runCode('x')).text, '1')
    assert.ok((await s.listCodeContexts()).some(c => c.id === context.id))
    await s.restartCodeContext(context)
    assert.equal((await s.runCode('x', { context })).error.name, 'NameError')
    await s.removeCodeContext(context)
    await assert.rejects(s.runCode('1', { context }), /not found/i)
    await assert.rejects(s.createCodeContext({ cwd: '/nonexistent' }), /400/)
    await assert.rejects(s.createCodeContext({ language: 'cobol' }), /400/)
    const other = await Sandbox.create()
    assert.equal((await other.runCode('x')).error.name, 'NameError')
    await Promise.all([s.kill(), other.kill()])
    """)


def test_bash_keeps_its_state(sdk):
    sdk("""
    const s = await Sandbox.create()
    const language = 'bash'
    await s.runCode('A=5; cd /tmp; f() { echo "f $1"; }', { language })
    const run = await s.runCode('f "$A"; pwd; echo e >&2', { language })
    assert.equal(run.logs.stdout.join(''), 'f 5\\n/tmp\\n')
    assert.equal(run.logs.stderr.join(''), 'e\\n')
    assert.equal(run.error, undefined)
    const failed = await s.runCode('false', { language })
    assert.deepEqual([failed.error.name, failed.error.value], ['ExitStatus', '1'])
    assert.equal((await s.runCode('cat; echo "$B"', { language, envs: { B: "it's" } })).logs.stdout.join(''), "it's\\n")
    assert.equal((await s.runCode('echo "[$B]"', { language })).logs.stdout.join(''), '[]\\n')
    assert.match((await s.runCode('if then', { language })).logs.stderr.join(''), /syntax error/)
    assert.equal((await s.runCode('exit 3', { language })).error.name, 'ProcessEnded')
    assert.equal((await s.runCode('echo again', { language })).logs.stdout.join(''), 'again\\n')
    await s.kill()
    """)


def test_javascript_keeps_its_state(sdk):
    needs("node", has("sys") and subprocess.run(["which", "node"], capture_output=True).returncode == 0, "not installed")
    sdk("""
    const s = await Sandbox.create()
    const language = 'javascript'
    await s.runCode('const a = 20; let b = 1', { language })
    const run = await s.runCode('console.log("hi"); console.error("e"); a + b', { language })
    assert.equal(run.text, '21')
    assert.equal(run.logs.stdout.join(''), 'hi\\n')
    assert.equal(run.logs.stderr.join(''), 'e\\n')
    assert.deepEqual((await s.runCode('await Promise.resolve({ k: [1] })', { language })).results[0].json, { k: [1] })
    const { error } = await s.runCode('throw new TypeError("bad")', { language })
    assert.deepEqual([error.name, error.value], ['TypeError', 'bad'])
    assert.match(error.traceback, /piece\\.js/)
    assert.equal((await s.runCode('require("os").platform()', { language })).text, 'linux')
    await s.kill()
    """)


def test_what_hangs_is_interrupted(sdk):
    sdk("""
    const s = await Sandbox.create()
    await s.runCode('kept = 7')
    const before = Date.now()
    await assert.rejects(s.runCode('import time\\nwhile True: time.sleep(1)', { timeoutMs: 2000 }))
    // Who asked is gone: the context is free for the next one, with its state.
    assert.equal((await s.runCode('kept')).text, '7')
    assert.ok(Date.now() - before < 40_000)
    for (const [language, code] of [['python', 'while True: pass'], ['bash', 'sleep 100; echo no'], ['javascript', 'for (;;) {}']]) {
      const context = await s.createCodeContext({ language })
      const running = s.runCode(code, { context })
      await new Promise(r => setTimeout(r, 1000))
      const stopped = await fetch(`${process.env.E2B_SANDBOX_URL}/contexts/${context.id}/interrupt`, {
        method: 'POST', headers: { 'e2b-sandbox-id': s.sandboxId, 'e2b-sandbox-port': '49999' } })
      assert.equal(stopped.status, 204)
      const { error, logs } = await running
      assert.ok(error, language)
      assert.deepEqual(logs.stdout, [])
    }
    await s.kill()
    """)


@pytest.mark.skipif(has("ipykernel") and has("jupyter_client"), reason="needs no-ipykernel: it is installed")
def test_without_its_packages_the_template_is_refused_with_the_remedy(daemon):
    status, body, _ = daemon.request("POST", "/v2/sandboxes", {"templateID": "code-interpreter-v1"})
    assert status == 501 and "apt-get install python3-ipykernel" in body["message"]


def test_other_templates_say_that_they_are_not_there(daemon):
    for name, status in (("desktop", 501), ("mcp-gateway", 501), ("nope", 404)):
        got, body, _ = daemon.request("POST", "/v2/sandboxes", {"templateID": name})
        assert got == status and name in body["message"]
