// Scripts of many tenants over HTTP: each tenant has an API key and a sandbox of its own, which keeps its files
// from one script to the next. See README.md.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { CommandExitError, NotFoundError, Sandbox, TimeoutError } from 'e2b'

const PORT = Number(process.env.PORT ?? 8080)
const SCRIPT_MS = Number(process.env.SCRIPT_MS ?? 10_000)
const IDLE_MS = 600_000 // how long a tenant's sandbox waits for the next script
const MOST_SCRIPT = 256 << 10
const MOST_OUTPUT = 64 << 10
const LANGUAGES = { python: 'python3', sh: 'sh', node: 'node' }

// { "token": { "name": "acme", "key": "e2b_…" } }
const tenants = new Map(Object.entries(JSON.parse(readFileSync(process.env.TENANTS, 'utf8'))))
const sandboxes = new Map() // by tenant's name: promises, so that two scripts at once share one

// The one that an earlier run of this program made, or a new one. A key sees its own sandboxes alone.
async function openSandbox({ name, key }) {
  const query = { metadata: { purpose: 'scripts' }, state: ['running'] }
  const [found] = await Sandbox.list({ query, apiKey: key }).nextItems()
  if (found) return Sandbox.connect(found.sandboxId, { apiKey: key, timeoutMs: IDLE_MS })
  return Sandbox.create({ apiKey: key, timeoutMs: IDLE_MS, metadata: { purpose: 'scripts', tenant: name } })
}

function sandboxOf(tenant) {
  if (!sandboxes.has(tenant.name)) {
    const opened = openSandbox(tenant)
    opened.catch(() => sandboxes.delete(tenant.name))
    sandboxes.set(tenant.name, opened)
  }
  return sandboxes.get(tenant.name)
}

async function runScript(sandbox, program, script) {
  await sandbox.setTimeout(IDLE_MS)
  const file = `/tmp/script-${crypto.randomUUID()}`
  await sandbox.files.write(file, script)
  const result = { stdout: '', stderr: '', status: null, ended: 'exited' }
  let command
  const take = name => piece => {
    result[name] += piece.slice(0, MOST_OUTPUT - result.stdout.length - result.stderr.length)
    if (result.stdout.length + result.stderr.length < MOST_OUTPUT) return
    result.ended = 'output limit'
    command?.kill()
  }
  const options = { background: true, timeoutMs: SCRIPT_MS, onStdout: take('stdout'), onStderr: take('stderr') }
  try {
    command = await sandbox.commands.run(`${program} ${file}`, options)
    if (result.ended === 'output limit') await command.kill() // before it had a name here
    result.status = (await command.wait()).exitCode
  } catch (error) {
    if (error instanceof CommandExitError) result.status = error.exitCode
    else if (error instanceof TimeoutError) result.ended = 'time limit'
    else throw error
  } finally {
    await sandbox.files.remove(file).catch(() => {})
  }
  return result
}

// A sandbox may have ended since it was last used: then there is a new one, once.
async function serveScript(tenant, program, script) {
  for (let again = false; ; again = true) {
    const sandbox = await sandboxOf(tenant)
    try {
      return await runScript(sandbox, program, script)
    } catch (error) {
      const isGone = error instanceof NotFoundError || !(await sandbox.isRunning().catch(() => false))
      if (again || !isGone) throw error
      sandboxes.delete(tenant.name)
    }
  }
}

async function bodyOf(request) {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) {
    body += piece
    if (body.length > MOST_SCRIPT) return null
  }
  return body
}

const server = http.createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const tenant = tenants.get(request.headers.authorization?.replace(/^Bearer /, ''))
  const program = LANGUAGES[new URL(request.url, 'http://localhost').pathname.slice('/run/'.length)]
  if (!tenant) return answer(401, { error: 'no tenant has this token' })
  if (request.method !== 'POST' || !program) return answer(404, { error: 'POST /run/python, /run/sh or /run/node' })
  try {
    const script = await bodyOf(request)
    if (script === null) return answer(413, { error: `a script has at most ${MOST_SCRIPT} characters` })
    answer(200, await serveScript(tenant, program, script))
  } catch (error) {
    console.error(`${tenant.name}: ${error}`)
    answer(503, { error: error.message })
  }
})
server.listen(PORT, '127.0.0.1', () => console.log(`scripts on http://127.0.0.1:${server.address().port}`))
