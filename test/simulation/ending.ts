/**
 * The end of a run: the faults have stopped, and what can come to its end does.
 *
 * Owns: letting it happen, and the last look. Does not own: single acts (acts).
 */
import assert from 'node:assert/strict'
import { DAY } from '../../src/base/clock.js'
import type { Entry } from '../../src/rails/sandbox/entry.js'
import { call, goOn, hear, look, pass, report, setBus, setRail } from './acts.js'
import { checkDelivered, rememberedIn, type Row } from './invariants.js'
import { isOver } from './knowledge.js'
import type { Stage } from './stage.js'

/** A payment that nobody will ever hear of again is looked at by a person after this time. */
const PATIENCE_MS = 2 * DAY
const ROUNDS_MAX = 2_000

/** With a rail and a bus that work, and time. */
export async function comeToRest(stage: Stage): Promise<void> {
  const { rail, bus, mortal, witness } = stage
  const { clock } = mortal.world
  stage.stopFaults()
  if (!rail.isUp) setRail(stage, true)
  if (!bus.isUp) await setBus(stage, true)
  const patientUntil = clock.now() + PATIENCE_MS
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await runDry(stage)
    const next = Math.min(rail.nextDueAt() ?? Infinity, (await witness.nextDueAt()) ?? Infinity)
    if (next === Infinity) return
    pass(stage, Math.max(0, next - clock.now()))
    if (clock.now() > patientUntil) await settleByHand(stage)
    rail.work()
    const pause = mortal.waiting().indexOf('pause')
    if (pause >= 0) await goOn(stage, pause)
  }
  assert.fail('it does not come to rest')
}

/** Until nobody has anything to do at this instant. */
async function runDry(stage: Stage): Promise<void> {
  const { rail, bus, mortal } = stage
  for (;;) {
    const place = mortal.waiting().findIndex((what) => what !== 'pause')
    if (place >= 0) await goOn(stage, place)
    else if (rail.orders() > 0) rail.receive()
    else if (rail.reports() > 0) hear(stage)
    else if (bus.onTheWay() > 0) bus.deliver()
    else if (bus.unreported().length > 0) report(stage)
    else return
  }
}

async function settleByHand(stage: Stage): Promise<void> {
  for (const { id, state } of await stage.witness.rows()) {
    if (state === 'processing') call(stage, stage.workload.settle(id))
  }
}

const PAID = ['captured', 'refunded', 'completed', 'reversed']

export async function checkTheEnd(stage: Stage): Promise<void> {
  const { workload, witness, rail, mortal, bus } = stage
  await witness.checkKnown(workload)
  for (const row of await witness.rows()) {
    const { id, state } = row
    assert.ok(isOver(state) || PAID.includes(state), `${id} has come to its end, not ${state}`)
    if (workload.settledByHand.has(id) || rail.liedAbout.has(id)) continue
    checkPaid(row, rail.entries.get(id))
  }
  const before = rememberedIn(mortal.world.memory())
  await mortal.kill()
  assert.deepEqual(rememberedIn(mortal.world.memory()), before, 'a restart changes nothing')
  await checkDelivered(witness, bus)
  const known = await witness.discrepancies()
  for (const id of stage.odd) assert.ok(known.has(id), `${id}: odd news is on record`)
  await look(stage, true)
}

/** The bank and we agree; what was handed over has failed by the bank's word alone. */
function checkPaid({ id, state, handedOverAt }: Row, entry: Entry | undefined): void {
  assert.equal(entry?.executions ?? 0, PAID.includes(state) ? 1 : 0, `${id} is ${state}`)
  if (state === 'failed' && handedOverAt !== null) assert.equal(entry?.state, 'refused', id)
}
