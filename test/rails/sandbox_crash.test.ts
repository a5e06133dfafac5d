/**
 * kill -9 of a real sandbox rail under load: no reported outcome is lost, nothing is paid twice.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { projectRoot } from '../../src/base/project_root.js'
import type { EffectId } from '../../src/base/ids.js'
import type { Instruction, RailReport } from '../../src/rails/rail.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { aListener, anInstruction, random, shortFolder, TOKEN, until } from './harness.js'

const MAIN = join(projectRoot(), '.build/src/rails/sandbox/main.js')
const KILLS = 4
const PER_ROUND = 1_500

interface Child {
  readonly process: ChildProcess
  readonly exited: Promise<NodeJS.Signals | number | null>
}

/** Resolves when the rail reports ready. */
async function aRailProcess(t: Test, folder: string, delayMs: number): Promise<Child> {
  const child = fork(MAIN, {
    cwd: folder,
    env: {
      ...{ ...process.env, DATA_DIR: folder, LOG_LEVEL: 'error' },
      ...{ RAIL_DELAY_MS: String(delayMs), RAIL_LISTEN: `unix:${join(folder, 'rail.sock')}` },
      CALLERS: callerEntry('processor', 'processor', TOKEN),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', () => reject(new Error('the rail did not start')))
  })
  return { process: child, exited }
}

function aDataFolder(t: Test): string {
  const folder = shortFolder(t)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

const transactionOf = (report: RailReport): string | null =>
  report.status === 'executed' ? report.transactionId : null

t.test('repeated kill -9 under load loses and duplicates nothing', async (t) => {
  const folder = aDataFolder(t)
  let child = await aRailProcess(t, folder, 5)
  const rail = aListener(t, `unix:${join(folder, 'rail.sock')}`)
  const instructions: Instruction[] = []
  const isPaid = new Set<EffectId>()
  const note = (): void => {
    for (const report of rail.received) if (report.status === 'executed') isPaid.add(report.id)
  }

  for (let kill = 0; kill < KILLS; kill++) {
    await until('the link is up', () => rail.up())
    const receivedBefore = rail.received.length
    const more = Array.from({ length: PER_ROUND }, () => anInstruction())
    instructions.push(...more)
    rail.send(more.map((instruction) => ({ kind: 'instruct', instruction })))
    await until('more reports arrived', () => rail.received.length > receivedBefore)
    child.process.kill('SIGKILL')
    t.equal(await child.exited, 'SIGKILL')
    child = await aRailProcess(t, folder, 5)
  }

  await until('every instruction is executed', async () => {
    note()
    const open = instructions.filter(({ id }) => !isPaid.has(id))
    rail.send(open.map((instruction) => ({ kind: 'instruct', instruction })))
    await new Promise((resolve) => setTimeout(resolve, 50))
    return open.length === 0
  })
  child.process.kill('SIGTERM')
  t.equal(await child.exited, 0)

  const journal = await openJournal(join(folder, 'rail.db'), random)
  t.teardown(() => journal.close())
  const entries = await journal.find(instructions.map(({ id }) => id))
  t.equal(entries.length, instructions.length, 'each instruction is stored')
  t.ok(
    entries.every(({ executions }) => executions === 1),
    'each instruction was executed once',
  )
  const numbers = new Map(entries.map(({ id, transactionId }) => [id, transactionId]))
  t.equal(new Set(numbers.values()).size, entries.length, 'with a transaction id of its own')
  const contradicted = rail.received.filter(
    (report) => transactionOf(report) !== numbers.get(report.id),
  )
  t.strictSame(contradicted, [], 'every report agrees, before and after the kills')
})

t.test('a clean stop keeps pending instructions and exits with 0', async (t) => {
  const folder = aDataFolder(t)
  const child = await aRailProcess(t, folder, 600_000)
  const rail = aListener(t, `unix:${join(folder, 'rail.sock')}`)
  await until('the link is up', () => rail.up())
  const instruction = anInstruction()
  rail.send([
    { kind: 'instruct', instruction },
    { kind: 'query', id: instruction.id, environment: 'sandbox' },
  ])
  await rail.waitFor(instruction.id, 'accepted')
  child.process.kill('SIGTERM')
  t.equal(await child.exited, 0)
  const journal = await openJournal(join(folder, 'rail.db'), random)
  t.teardown(() => journal.close())
  t.match(await journal.find([instruction.id]), [{ state: 'pending', executions: 0 }])
})
