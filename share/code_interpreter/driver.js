// Runs pieces of JavaScript in one global scope. A piece comes as a line of JSON on stdin; its end goes, as a line
// of JSON, to descriptor 9.
'use strict'
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const util = require('util')
const vm = require('vm')
const { createRequire } = require('module')

const CONTROL = 9

globalThis.require = createRequire(path.join(process.cwd(), 'piece.js'))
// An interrupt ends a piece that runs (breakOnSigint), and one that waits.
let stopWaiting = null
process.on('SIGINT', () => stopWaiting && stopWaiting(new Error('interrupted')))
process.on('uncaughtException', error => console.error(error))
process.on('unhandledRejection', error => console.error(error))

function compile(code) {
  try {
    return new vm.Script(code, { filename: 'piece.js' })
  } catch (error) {
    if (!(error instanceof SyntaxError) || !/\bawait\b/.test(code)) throw error
    // The last expression is the value; declarations are the piece's own.
    const lines = code.trimEnd().split('\n')
    for (const body of [`return (${lines.join('\n')}\n)`,
      [...lines.slice(0, -1), `return (${lines.at(-1).replace(/;\s*$/, '')}\n)`].join('\n'), lines.join('\n')]) {
      try {
        return new vm.Script(`(async () => {${body}\n})()`, { filename: 'piece.js' })
      } catch (again) {
        if (!(again instanceof SyntaxError)) throw again
      }
    }
    throw error
  }
}

function shown(value) {
  if (value === undefined) return undefined
  const result = { text: typeof value === 'string' ? value : util.inspect(value) }
  if (value !== null && typeof value === 'object') {
    try {
      const json = JSON.parse(JSON.stringify(value))
      if (json !== null && typeof json === 'object') result.json = json
    } catch { /* not everything is JSON */ }
  }
  return result
}

async function run({ code, environment }) {
  const before = Object.fromEntries(Object.keys(environment).map(name => [name, process.env[name]]))
  Object.assign(process.env, environment)
  try {
    let value = compile(code).runInThisContext({ breakOnSigint: true })
    if (value && typeof value.then === 'function') {
      value = await Promise.race([value, new Promise((_, reject) => { stopWaiting = reject })])
    }
    return { result: shown(value) }
  } catch (error) {
    const thrown = error instanceof Error || (error && error.stack) ? error : { name: 'Error', message: String(error) }
    return { error: [String(thrown.name), String(thrown.message), String(thrown.stack || '')] }
  } finally {
    stopWaiting = null
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

const lines = readline.createInterface({ input: process.stdin, terminal: false })
let turn = Promise.resolve()
lines.on('line', line => {
  turn = turn.then(async () => {
    const end = await run(JSON.parse(line))
    fs.writeSync(CONTROL, JSON.stringify(end) + '\n')
  })
})
