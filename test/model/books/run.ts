/**
 * One run of a seed: the product and the model in lockstep.
 *
 * - After each call the answer's code, the balances, the events, the states of all payouts and the
 *   discrepancies are equal.
 */
import assert from 'node:assert/strict'
import { readSettings } from '../../../src/settings/settings_reader.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { rulesOf } from '../../../src/processor/cycle/rules.js'
import type { Dialect } from '../../../src/store/dialect.js'
import { createSeededRandom, type SeededRandom } from '../../fuzz/seeded_random.js'
import { rawBooks } from '../../support/books.js'
import { codeOf, createWorld, DEMO, type Home, type World } from '../../support/world.js'
import { noApprovals, noteRequest, SECOND_OPERATOR_FROM } from './approvals.js'
import { SPREAD_BPS } from './conversions.js'
import { drawCall, type Draw } from './draws.js'
import { createLedger } from './ledger.js'
import type { BooksModel } from './model.js'
import { fireTimers } from './payouts.js'

export interface BooksRun {
  readonly seed: number
  readonly steps: number
  /** Actors are rebuilt from the books before each call. */
  readonly isRebuilt: boolean
}

const PASSES_MS = [0, 1_000, 61_000, 7 * 3_600_000, 86_400_000] as const
const LAST_LINES = 25
const LIMITS = Object.entries(SECOND_OPERATOR_FROM).map(([code, from]) => `${code}:${from}`)

/** @returns the count of each code that was answered @throws with the line that repeats it */
export async function runBooks(
  home: Home,
  { seed, steps, isRebuilt }: BooksRun,
): Promise<ReadonlyMap<string, number>> {
  const { secondOperator } = rulesOf(readSettings({ SECOND_OPERATOR_FROM: LIMITS.join() }, ''))
  const rules = { secondOperator, spreadBps: Number(SPREAD_BPS) }
  const world = await createWorld(home, { rules, rebuilt: isRebuilt })
  const run = await openRun(world, createSeededRandom(seed, 0))
  const lines: string[] = []
  const counts = new Map<string, number>()
  try {
    for (let step = 0; step < steps; step++) {
      const code = await stepOf(run, (line) => lines.push(`${step} ${line}`))
      counts.set(code, (counts.get(code) ?? 0) + 1)
    }
    await world.rebuild()
    compareBalances(run)
    assert.ok((await world.trialBalance()).balanced, 'the trial balance')
  } catch (error) {
    const how = `make model SEED=${seed} ARGS="--books${isRebuilt ? ' --rebuilt' : ''}"`
    const last = lines.slice(-LAST_LINES).join('\n  ')
    throw new Error(`seed ${seed} failed; to repeat: ${how}\n  ${last}`, { cause: error })
  } finally {
    await run.close()
  }
  return counts
}

interface Run {
  readonly world: World
  readonly model: BooksModel
  readonly random: SeededRandom
  /** Rows on disk. */
  rows<Row>(query: string | ((dialect: Dialect) => string)): Promise<Row[]>
  close(): Promise<void>
}

async function openRun(world: World, random: SeededRandom): Promise<Run> {
  const books = await rawBooks(world.folder)
  world.events.length = 0
  return {
    ...{ world, random },
    model: {
      ...{ now: world.clock.now(), isRailUp: true, ledger: createLedger(balancesIn(world)) },
      ...{ payouts: [], quotes: [], discrepancies: new Map(), approvals: noApprovals() },
      ...{ fundKeys: new Map(), events: [] },
    },
    rows: (query) => books.all(typeof query === 'string' ? query : query(books.dialect)),
    close: () => books.close(),
  }
}

async function stepOf(run: Run, note: (line: string) => void): Promise<string> {
  const { world, model, random } = run
  if (random.once(12)) return passTime(run, note)
  if (random.once(40)) await world.rebuild()
  const drawn = drawCall({ world, model, random, discrepancyIds: await discrepancyIds(run) })
  note(drawn.text)
  const expected = drawn.expected()
  const answer = await world.run(drawn.command)
  note(`  ${codeOf(answer)}`)
  assert.equal(codeOf(answer), expected, drawn.text)
  learn(run, drawn, answer)
  await compare(run)
  return codeOf(answer)
}

async function passTime(run: Run, note: (line: string) => void): Promise<string> {
  const { world, model, random } = run
  if (random.once(2)) {
    model.isRailUp = !model.isRailUp
    world.setRail(model.isRailUp)
  }
  const passed = random.pick(PASSES_MS)
  note(`${passed} ms pass, the rail is ${model.isRailUp ? 'up' : 'down'}`)
  model.now += passed
  await world.fireTimers(passed)
  fireTimers(model)
  await compare(run)
  return 'time passes'
}

function learn({ model }: Run, { learn, guarded }: Draw, answer: Answer): void {
  if (answer.ok) learn?.(answer.view as Record<string, unknown>)
  else if ('approvalRequest' in answer && guarded !== undefined) {
    const { operator, change } = guarded
    assert.equal(noteRequest(model, operator, change, answer.approvalRequest), null)
  }
}

async function compare(run: Run): Promise<void> {
  compareBalances(run)
  compareEvents(run)
  const rows = await run.rows<{ id: string; state: string }>('SELECT id, state FROM payouts')
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  assert.deepEqual(states, new Map(run.model.payouts.map(({ id, state }) => [id, state])))
  await compareDiscrepancies(run)
}

/** By `currency account`, of the tenant. */
function balancesIn(world: World): Map<string, bigint> {
  const found = new Map<string, bigint>()
  for (const [key, balance] of world.memory().balances) {
    const [tenant, currency, account] = key.split(':')
    if (tenant === DEMO && balance !== 0n) found.set(`${currency} ${account}`, balance)
  }
  return found
}

const sorted = <Value>(map: ReadonlyMap<string, Value>) =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1))

const compareBalances = ({ world, model }: Run): void =>
  assert.deepEqual(sorted(balancesIn(world)), sorted(model.ledger.balances()))

function compareEvents({ world, model }: Run): void {
  const numbers = new Map(model.payouts.map(({ id, number }) => [id, number]))
  const published = world.events.splice(0).map(({ type, body }) => {
    const { data } = JSON.parse(body) as { data: { payout: { id: string } } }
    return `${numbers.get(data.payout.id)} ${type}`
  })
  const order = (events: readonly string[]) => [...events].sort()
  assert.deepEqual(order(published), order(model.events.splice(0)))
}

interface DiscrepancyRow {
  readonly id: string
  readonly entity: string
  readonly status: string
  readonly tx: string | null
  readonly amount: string | null
  readonly settlement: string | null
}

const DISCREPANCIES = ({ text }: Dialect): string => `SELECT id, entity, settlement,
  ${text('report', 'status')} AS status, ${text('report', 'transaction_id')} AS tx,
  ${text('report', 'amount')} AS amount FROM discrepancies`

const factsOf = ({ model }: Run, { entity, status, tx, amount }: DiscrepancyRow): string => {
  const payout = model.payouts.find(({ id }) => id === entity)
  return `${payout?.number} ${status} ${tx === null ? '' : `${tx} ${amount}`}`
}

async function discrepancyIds(run: Run): Promise<ReadonlyMap<string, string>> {
  const rows = await run.rows<DiscrepancyRow>(DISCREPANCIES)
  return new Map(rows.map((row) => [factsOf(run, row), row.id]))
}

async function compareDiscrepancies(run: Run): Promise<void> {
  const rows = await run.rows<DiscrepancyRow>(DISCREPANCIES)
  const found = new Map(rows.map((row) => [factsOf(run, row), row.settlement]))
  const expected = [...run.model.discrepancies].map(([facts, each]) => [facts, each.settlement])
  assert.deepEqual(sorted(found), sorted(new Map(expected as [string, string | null][])))
}
