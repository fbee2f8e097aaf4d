"""What leaves a sandbox, as clients of the unmodified npm package ask for it, on an internet of the test's own."""
import json

import pytest
from support.daemon import Daemon
from support.internet import SERVER
from support.sdk import Sdk, installed

HOSTS = ["a.example", "b.example", "x.sub.example", "registry.example"]
PRELUDE = """
import { Sandbox, Secret } from 'e2b'
const SERVER = '%s', ALL = '0.0.0.0/0'
// Status and body of a request made inside; code of curl when there was none.
async function fetched(s, url, ...options) {
  const done = await s.commands.run(`curl -sS -m 10 -w '\\n%%{http_code}' ${options.join(' ')} ${url}`)
    .catch(error => error)
  return { code: done.exitCode, status: Number(done.stdout.split('\\n').at(-1)), out: done.stdout, err: done.stderr }
}
const reaches = async (s, url) => (await fetched(s, url)).code === 0
const detail = async s => (await fetch(`${process.env.E2B_API_URL}/sandboxes/${s.sandboxId}`,
  { headers: { 'x-api-key': 'any' } })).json()
""" % SERVER


@pytest.fixture
def world(online):
    """world(*options of serve): runs scripts against a daemon on a host that reaches HOSTS."""
    daemons = []

    def serve(paddock, *options, **how):
        daemon = Daemon(paddock, *options, wrap=paddock.internet.wrap, **how)
        daemons.append(daemon)
        sdk = Sdk(installed("e2b@2.51.0"), daemon, paddock.internet.wrap, PRELUDE)
        sdk.internet, sdk.paddock = paddock.internet, paddock
        return sdk

    def make(*options, policy="", **how):
        paddock = online(HOSTS)
        if policy:
            paddock.policy(policy)
        return serve(paddock, *options, **how)

    def two(*options):
        """The same world before and after its daemon is killed, which sandboxes outlive."""
        paddock = online(HOSTS)
        yield serve(paddock, *options, leased=True)
        daemons.pop().kill()
        yield serve(paddock, *options, leased=True)

    make.two = two

    yield make
    for daemon in daemons:
        assert daemon.stop() == 0, daemon.log.read_text()


def test_open_by_policy_is_open_to_clients_that_say_nothing(world):
    world("--egress", "open")("""
    const s = await Sandbox.create()
    assert.ok(await reaches(s, 'http://a.example/'))
    assert.ok(await reaches(s, `http://${SERVER}/`))
    assert.ok(await reaches(s, '-k https://a.example/'))
    // The host's own and private addresses stay out of reach.
    assert.ok(!await reaches(s, 'http://11.0.0.2/'))
    assert.ok(!await reaches(s, 'http://10.9.9.9/'))
    assert.ok(!await reaches(s, 'http://169.254.169.254/'))
    const told = await detail(s)
    assert.equal(told.allowInternetAccess, null)
    assert.deepEqual(told.egress.granted, ['allow every public host every public address ports *'])
    const refused = told.egress.denials.find(d => d.what === 'tcp 10.9.9.9:80')
    assert.match(refused.remedy, /admin rule/)
    await s.kill()
    """)


def test_none_by_policy_is_none_whatever_is_asked_for(world):
    sdk = world("--egress", "none")
    sdk("""
    const s = await Sandbox.create({ allowInternetAccess: true, network: { allowOut: ['a.example'], denyOut: [ALL] } })
    assert.ok(!await reaches(s, 'http://a.example/'))
    assert.ok(!await reaches(s, `http://${SERVER}/`))
    const told = await detail(s)
    assert.deepEqual(told.egress.granted, [])
    assert.equal(told.allowInternetAccess, true, 'what was asked for is told, beside what was granted')
    assert.deepEqual(told.network.allowOut, ['a.example'])
    assert.ok(told.egress.denials.some(d => d.what === 'a.example'), JSON.stringify(told.egress))
    await s.kill()
    """)
    assert sdk.internet.queries() == [] and sdk.internet.requests() == []


def test_what_is_asked_for_never_widens_policy(world):
    world("--allow", "a.example")("""
    const s = await Sandbox.create({ network: { allowOut: ['a.example', 'b.example', SERVER], denyOut: [ALL] } })
    assert.ok(await reaches(s, 'http://a.example/'))
    assert.ok(!await reaches(s, 'http://b.example/'))
    assert.ok(!await reaches(s, `http://${SERVER}/`))
    const { egress } = await detail(s)
    assert.ok(egress.denials.some(d => d.what === 'b.example' && d.rule === 'egress'))
    await s.kill()
    """)


def test_no_word_of_policy_means_the_package_registries(world, base):
    config = base / "home" / ".config" / "pip"
    config.mkdir(parents=True)
    (config / "pip.conf").write_text("[global]\nindex-url = http://registry.example/simple/\n")
    world(real_tools=True)("""
    const s = await Sandbox.create()
    const { egress } = await detail(s)
    assert.ok(egress.granted.some(line => line.includes('registry.example')), JSON.stringify(egress))
    assert.ok(await reaches(s, 'http://registry.example/simple/'))
    assert.ok(!await reaches(s, 'http://a.example/'))
    await s.kill()
    """)


def test_no_internet_access_is_none(world):
    world("--egress", "open")("""
    const s = await Sandbox.create({ allowInternetAccess: false })
    assert.ok(!await reaches(s, 'http://a.example/'))
    assert.ok(!await reaches(s, `http://${SERVER}/`))
    assert.equal((await detail(s)).allowInternetAccess, false)
    await s.kill()
    const same = await Sandbox.create({ allowInternetAccess: true })
    assert.ok(await reaches(same, 'http://a.example/'))
    await same.kill()
    """)


def test_allowed_wins_over_denied(world):
    world("--egress", "open")("""
    const byName = await Sandbox.create({ network: { allowOut: ['a.example', '*.sub.example'], denyOut: [ALL] } })
    assert.ok(await reaches(byName, 'http://a.example/'))
    assert.ok(await reaches(byName, 'http://x.sub.example/'))
    assert.ok(await reaches(byName, '-k https://a.example/'))
    assert.ok(!await reaches(byName, 'http://b.example/'))
    assert.ok(!await reaches(byName, `http://${SERVER}/`))
    // A name that is allowed does not lead to one that is not.
    assert.ok(!await reaches(byName, `-k --connect-to b.example:443:a.example:443 https://b.example/`))
    assert.equal((await fetched(byName, 'http://a.example/', "-H 'Host: b.example'")).status, 403)
    await byName.kill()
    const byAddress = await Sandbox.create({ network: { allowOut: [SERVER], denyOut: [ALL] } })
    assert.ok(await reaches(byAddress, `http://${SERVER}/`))
    assert.ok(!await reaches(byAddress, 'http://a.example/'))
    await byAddress.kill()
    """)


def test_a_denied_address_is_denied_by_every_name(world):
    world("--egress", "open")("""
    const s = await Sandbox.create({ network: { denyOut: [`${SERVER}/32`] } })
    assert.ok(!await reaches(s, `http://${SERVER}/`))
    assert.ok(!await reaches(s, 'http://a.example/'))
    const { egress } = await detail(s)
    assert.ok(egress.denials.some(d => d.rule.includes('denyOut')), JSON.stringify(egress))
    await s.kill()
    const free = await Sandbox.create({ network: { denyOut: ['11.0.0.77'] } })
    assert.ok(await reaches(free, 'http://a.example/'))
    await free.kill()
    """)


def test_lists_that_cannot_hold_are_refused(world):
    world("--egress", "open")("""
    await assert.rejects(Sandbox.create({ network: { allowOut: ['a.example'] } }), /0\\.0\\.0\\.0\\/0/)
    await assert.rejects(Sandbox.create({ network: { denyOut: ['a.example'] } }), /denyOut/)
    await assert.rejects(Sandbox.create({ network: { allowOut: ['10.0.0.0/8'], denyOut: [ALL] } }), /not public/)
    await assert.rejects(Sandbox.create({ network: { egressProxy: { address: 'p.example:1080' } } }), /501.*egressProxy/)
    """)


def test_what_leaves_changes_while_it_runs(world):
    world("--egress", "open")("""
    const s = await Sandbox.create()
    assert.ok(await reaches(s, 'http://a.example/'))
    // A connection that is open when it is no longer allowed is closed.
    const talk = await s.commands.run('exec 3<>/dev/tcp/a.example/2525; head -1 <&3; cat <&3; echo over', {
      background: true, timeoutMs: 30000 })
    while (!talk.stdout.includes('220')) await new Promise(r => setTimeout(r, 50))
    await s.updateNetwork({ denyOut: [ALL] })
    const { stdout } = await talk.wait().catch(error => error)
    assert.match(stdout, /over/)
    assert.ok(!await reaches(s, 'http://a.example/'))
    assert.ok(!await reaches(s, `http://${SERVER}/`))
    await s.updateNetwork({ allowOut: ['b.example', SERVER], denyOut: [ALL] })
    assert.ok(await reaches(s, 'http://b.example/'))
    assert.ok(await reaches(s, `http://${SERVER}/`))
    assert.ok(!await reaches(s, 'http://a.example/'))
    assert.deepEqual((await s.getInfo()).network.allowOut, ['b.example', SERVER])
    await s.updateNetwork({})
    assert.ok(await reaches(s, 'http://a.example/'))
    await s.updateNetwork({ allowInternetAccess: false })
    assert.ok(!await reaches(s, 'http://a.example/'))
    await s.kill()
    """)


def test_headers_are_put_on_outside(world):
    sdk = world("--egress", "open")
    sdk("""
    const secret = await Secret.create('Api-Key', 's3cr3t-of-the-client')
    const rules = { 'a.example': [{ transform: { headers: {
      Authorization: 'Bearer ${e2b.secrets.api-key}', 'X-Plain': 'plain' } } }] }
    const s = await Sandbox.create({ network: { rules } })
    const seen = await fetched(s, 'https://a.example/', "-H 'Authorization: Bearer own'", "-H 'X-Plain: own'")
    assert.equal(seen.status, 200, JSON.stringify(seen))
    assert.ok(!seen.out.includes('s3cr3t'), 'what the server tells of the secret is masked')
    assert.match(seen.out, /"X-Plain": "plain"/)
    const other = await fetched(s, '-k https://b.example/')
    assert.ok(!other.out.includes('X-Plain'))
    const inside = await s.commands.run(`env; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n'; true`)
    assert.ok(!inside.stdout.includes('s3cr3t'))
    assert.ok(!JSON.stringify(await detail(s)).includes('s3cr3t'))
    await s.updateNetwork({})
    assert.ok(!(await fetched(s, '-k https://a.example/')).out.includes('X-Plain'))
    await assert.rejects(Sandbox.create({ network: { rules: { 'a.example': [{ transform: { headers: {
      A: '${e2b.secrets.nobody}' } } }] } } }), /nobody/)
    await s.kill()
    """)
    sent = [r["headers"] for r in sdk.internet.requests() if r["headers"]["Host"] == "a.example"]
    assert sent[0]["Authorization"] == "Bearer s3cr3t-of-the-client" and sent[0]["X-Plain"] == "plain"
    assert "Authorization" not in sent[1]


def test_secrets_are_kept_and_never_told(world):
    sdk = world("--egress", "none")
    sdk("""
    const made = await Secret.create('First', 'the-value-1', { metadata: { team: 'a' } })
    assert.equal(made.name, 'first')
    assert.equal(made.version, 1)
    await Secret.create('second', 'the-value-2')
    await assert.rejects(Secret.create('first', 'x'), /409|already/)
    const listed = await Secret.list().nextItems()
    assert.deepEqual(listed.map(x => x.name), ['first', 'second'])
    assert.deepEqual((await Secret.getInfo('first')).metadata, { team: 'a' })
    const changed = await Secret.update(made.secretId, 'the-value-3')
    assert.equal(changed.version, 2)
    assert.equal(await Secret.destroy('second'), true)
    assert.equal(await Secret.destroy('second'), false)
    const raw = await (await fetch(`${process.env.E2B_API_URL}/secrets`, { headers: { 'x-api-key': 'any' } })).text()
    assert.ok(!raw.includes('the-value'))
    """)
    for file in sdk.internet.folder.parent.glob("state/client-secrets/*"):
        assert b"the-value" not in file.read_bytes() and b"first" not in file.read_bytes()


def test_what_may_leave_is_the_same_under_the_next_daemon(world):
    worlds = world.two("--egress", "open")
    first = next(worlds)
    first("""
    await Secret.create('KEY', 's3cr3t-of-the-client')
    const network = { allowOut: ['a.example'], denyOut: [ALL],
      rules: { 'a.example': [{ transform: { headers: { 'X-Key': '${e2b.secrets.KEY}', 'X-Plain': 'plain' } } }] } }
    const s = await Sandbox.create({ network, metadata: { which: 'narrow' } })
    await Sandbox.create({ metadata: { which: 'open' } })
    const closed = await Sandbox.create({ metadata: { which: 'closed' } })
    await closed.updateNetwork({ allowInternetAccess: false })
    assert.ok(await reaches(s, 'http://a.example/'))
    """)
    second = next(worlds)
    second("""
    const by = {}
    for (const one of await Sandbox.list().nextItems()) by[one.metadata.which] = await Sandbox.connect(one.sandboxId)
    assert.ok(await reaches(by.narrow, 'http://a.example/'))
    assert.ok(!await reaches(by.narrow, 'http://b.example/'))
    const { out } = await fetched(by.narrow, 'https://a.example/')
    assert.ok(out.includes('X-Key') && out.includes('"X-Plain": "plain"') && !out.includes('s3cr3t'), out)
    assert.ok(await reaches(by.open, 'http://b.example/'))
    assert.ok(!await reaches(by.closed, 'http://b.example/'))
    const told = (await detail(by.narrow)).egress
    assert.ok(told.denials.some(d => d.what === 'b.example'), JSON.stringify(told))
    for (const one of Object.values(by)) await one.kill()
    """)


def test_what_the_gate_decided_is_in_the_audit_log(world):
    sdk = world("--egress", "open")
    sdk("""
    const s = await Sandbox.create()
    assert.ok(await reaches(s, 'http://a.example/path?secret=1'))
    assert.ok(!await reaches(s, 'http://10.9.9.9/'))
    await s.kill()
    """)
    log = sdk.paddock("audit", "show", "--json").ok().out
    records = [json.loads(line) for line in log.splitlines()]
    egress = [r for r in records if r["event"] == "egress"]
    seen = {(r["kind"], r["verdict"], r["host"], r["port"]) for r in egress}
    assert ("request", "allowed", "a.example", 80) in seen, seen
    assert ("connection", "denied", "10.9.9.9", 80) in seen, seen
    assert all(r["sandbox"] for r in egress) and "secret=1" not in log
    text = sdk("""
    const answer = await fetch(process.env.E2B_API_URL + '/metrics')
    console.log(await answer.text())
    """)
    assert 'paddock_gate_decisions_total{kind="connection",verdict="denied"} 1' in text, text
