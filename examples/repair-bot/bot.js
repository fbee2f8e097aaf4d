// A repair bot: it prepares a project once, forks a sandbox from there for each idea, and keeps the smallest
// change that makes the tests pass. See README.md.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Sandbox } from 'e2b'

const [project, attempts, patchFile] = process.argv.slice(2)
if (!patchFile) throw new Error('node bot.js PROJECT ATTEMPTS PATCH')
const TESTS = 'cd project && python3 -m unittest 2>&1'
const GIT = 'git -C project -c user.name=bot -c user.email=bot@example.com'

const statusOf = async (sandbox, command) => {
  const done = await sandbox.commands.run(command, { timeoutMs: 60_000 }).catch(error => error)
  if (done.exitCode === undefined) throw done
  return done
}

// What all attempts share is done once: here copying and a first commit, elsewhere installing for minutes.
async function prepare() {
  const sandbox = await Sandbox.create({ metadata: { purpose: 'repair' } })
  const packed = execFileSync('tar', ['-C', project, '--exclude=__pycache__', '-czf', '-', '.'])
  await sandbox.files.write('project.tar.gz', new Blob([packed]))
  const commands = [
    'mkdir project && tar -xzf project.tar.gz -C project',
    'git init -q project && echo __pycache__/ >> project/.git/info/exclude',
    `${GIT} add -A && ${GIT} commit -qm before`,
  ]
  await sandbox.commands.run(commands.join(' && '))
  return sandbox
}

// The attempt has one fork to itself, of which only the text of its change comes out. It is applied, but for the
// tests, in another fork that the attempt never saw: what is tried there is what is kept.
async function tryOut({ script, worker, referee }) {
  await worker.files.write('attempt.sh', readFileSync(script, 'utf8'))
  await statusOf(worker, 'cd project && sh ../attempt.sh')
  const change = `${GIT} add -A && ${GIT} diff --cached HEAD`
  await referee.files.write('change.patch', (await worker.commands.run(change)).stdout)
  await statusOf(referee, "git -C project apply --exclude='tests/*' ../change.patch")
  const patch = (await referee.commands.run(change)).stdout
  const passes = (await statusOf(referee, TESTS)).exitCode === 0
  const lines = patch.split('\n').filter(line => /^[+-](?![+-])/.test(line)).length
  return { name: basename(script, '.sh'), passes, lines, patch }
}

const scripts = readdirSync(attempts).sort().map(name => join(attempts, name))
const source = await prepare()
const sandboxes = [source]
try {
  const before = await statusOf(source, TESTS)
  console.log(`before      ${before.exitCode === 0 ? 'passes' : 'fails'}`)
  const forks = await source.fork({ count: scripts.length * 2 })
  sandboxes.push(...forks.filter(fork => fork instanceof Sandbox))
  const failed = forks.find(fork => !(fork instanceof Sandbox))
  if (failed) throw failed
  const pairs = scripts.map((script, i) => ({ script, worker: forks[2 * i], referee: forks[2 * i + 1] }))
  const results = await Promise.all(pairs.map(tryOut))
  for (const one of results) {
    console.log(`${one.name.padEnd(12)}${one.passes ? 'passes' : 'fails '}   ${one.lines} lines`)
  }
  const [best] = results.filter(one => one.passes).sort((a, b) => a.lines - b.lines)
  if (!best) throw new Error('no attempt repairs it')
  writeFileSync(patchFile, best.patch)
  console.log(`kept        ${best.name}`)
} finally {
  await Promise.all(sandboxes.map(sandbox => sandbox.kill()))
}
