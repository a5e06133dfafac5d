/**
 * One test case: the system and the model in lockstep.
 *
 * Owns: running operations in both. Does not own: the operations (generators), what is compared
 * (comparisons), the books at the end (final_audit).
 *
 * - Each case has its own tenant in a shared world.
 * - After each batch, responses, events, instructions, balances, discrepancies and the intents it
 *   touched are equal.
 */
import assert from 'node:assert/strict'
import { instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import type { StoredEvent } from '../../src/store/store.js'
import {
  compareAnswer,
  compareBalances,
  compareEvents,
  compareIntent,
  compareMismatches,
  compareInstructions,
} from './comparisons.js'
import { emptyModel, type Expectation, type Model, type ModelIntent } from './model.js'
import { get, timer, type ModelOperation, type System } from './operations.js'
import type { SharedWorld } from './shared_world.js'
import { openTenant, type Start } from './tenant.js'
import { dueIds } from '../support/due_ids.js'

export interface Harness {
  readonly model: Model
  readonly tenant: TenantId
  /** All events and instructions of this case. */
  readonly log: { readonly events: StoredEvent[]; readonly instructions: RailInstruction[] }
  readonly shared: SharedWorld
  readonly rebuilt: boolean
}

let runs = 0

/** @param rebuilt from SQLite before every batch */
export async function openHarness(
  shared: SharedWorld,
  start: Start,
  rebuilt = false,
): Promise<Harness> {
  const { world } = shared
  runs += 1
  const partner = `case${runs}` as PartnerId
  const tenant = tenantOf(partner, 'sandbox')
  const model = emptyModel(start.at, start.prefund)
  await shared.begin(tenant)
  world.clock.set(start.at)
  world.setRail(true)
  await shared.runAll([openTenant(partner, start, model)])
  world.events.length = 0
  world.railInstructions.length = 0
  return { model, tenant, shared, rebuilt, log: { events: [], instructions: [] } }
}

/** Runs the operations in one batch. */
export async function step(harness: Harness, operations: readonly ModelOperation[]): Promise<void> {
  const { model, shared } = harness
  const commands = operations.map((operation) => operation.command(systemOf(harness)))
  const expected = operations.map((operation) => operation.expected(model))
  if (harness.rebuilt) await shared.world.rebuild()
  const answers = await shared.runAll(commands)
  for (const [index, answer] of answers.entries()) recordGenerated(expected[index]!, answer)
  for (const [index, answer] of answers.entries()) {
    compareAnswer(operations[index]!, expected[index]!, answer)
  }
  compareEffects(harness)
  await compareIntents(harness, affectedBy(model, operations))
}

const systemOf = ({ tenant, model, shared }: Harness): System => ({
  ...{ owner: tenant, now: instant(model.now) },
  receiptSubject: shared.world.vault.receiptSubject,
})

function recordGenerated({ onAccepted, code }: Expectation, answer: Answer): void {
  if (code === 'ok' && answer.ok) onAccepted?.(answer.view as Record<string, unknown>)
}

function compareEffects({ model, tenant, shared, log }: Harness): void {
  const { events, railInstructions: instructions, memory } = shared.world
  compareEvents(model, events, log.events.length)
  compareInstructions(model, instructions)
  compareMismatches(model, shared)
  compareBalances(model, tenant, memory().balances)
  log.events.push(...events.splice(0))
  log.instructions.push(...instructions.splice(0))
  model.events = []
  model.instructions = []
  model.mismatches = []
}

/** The intents that operations name, and the youngest, which they may have created. */
function affectedBy(model: Model, operations: readonly ModelOperation[]): ReadonlySet<ModelIntent> {
  const named = operations.map(({ intent }) => intent)
  const intents = [...named, model.intents.at(-1)]
  return new Set(intents.filter((intent) => intent !== null && intent !== undefined))
}

async function compareIntents(harness: Harness, intents: ReadonlySet<ModelIntent>): Promise<void> {
  const compared = [...intents]
  const answers = await harness.shared.runAll(
    compared.map((intent) => get({ by: 'owner', intent }).command(systemOf(harness))),
  )
  for (const [index, answer] of answers.entries()) compareIntent(compared[index]!, answer)
}

export function pass({ model, shared }: Harness, until: number): void {
  model.now = until
  shared.world.clock.set(until)
}

export function setRail({ model, shared }: Harness, up: boolean): void {
  model.railUp = up
  shared.world.setRail(up)
}

/** Fires all due timers in one batch. */
export async function fireDueTimers(harness: Harness): Promise<void> {
  const { model, shared } = harness
  const due = model.intents.filter(({ wakeAt }) => wakeAt !== null && wakeAt <= model.now)
  const ids = await dueIds(shared.world.store, 'intents', instant(model.now), 10_000)
  const byId = new Map(model.intents.map((intent) => [intent.id, intent]))
  const found = ids.flatMap((id) => byId.get(id) ?? [])
  assert.deepEqual(new Set(found), new Set(due), 'the store returns the due timers')
  if (due.length > 0) await step(harness, due.map(timer))
}

/** Rebuilds the system as after a crash. */
export async function restart(harness: Harness): Promise<void> {
  const { model, tenant, shared } = harness
  await shared.world.rebuild()
  compareBalances(model, tenant, shared.world.memory().balances)
  await compareIntents(harness, new Set(model.intents))
}
