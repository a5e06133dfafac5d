/**
 * What can happen in one step.
 *
 * Owns: each act on the stage, and what is looked at after it. Does not own: which act comes next
 * (simulation).
 */
import assert from 'node:assert/strict'
import { ANSWER_WITHIN_MS } from '../../src/base/bounds.js'
import { MINUTE, plus } from '../../src/base/clock.js'
import { settleEvents } from '../../src/processor/commands/events_settle.js'
import { railNews } from '../../src/processor/commands/rail_news.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { checkBalances } from './invariants.js'
import type { Stage } from './stage.js'
import type { Call } from './calls.js'

/** Less than a nonce is remembered. */
const REMEMBERED_MS = 9 * MINUTE
const EVERY_EVENT = 100_000
const LEAP_MS = 5_000

/** A partner's signed call. */
export function call(stage: Stage, { command, heard }: Call): void {
  const { mortal, trace, chance, nonces } = stage
  const { clock, memory } = mortal.world
  const [keyId] = memory().keys.keys()
  assert.ok(keyId !== undefined)
  const spent = chance.once(15) && nonces.length > 0 ? chance.pick(nonces) : undefined
  const at = clock.now()
  const nonce = spent?.nonce ?? Buffer.from(Array.from({ length: 32 }, () => chance.int(256)))
  const take = (answer: Answer): void => {
    trace.say(`${command.name}: ${answer.ok ? JSON.stringify(answer.view) : answer.code}`)
    if (answer.ok) trace.count(`granted: ${command.name}`)
    const isTimeout = !answer.ok && answer.code === 'timeout'
    if (spent === undefined) {
      if (!isTimeout) nonces.push({ nonce, at })
      heard(answer)
    } else if (clock.now() - spent.at < REMEMBERED_MS) {
      trace.count('nonce used again')
      assert.ok(!answer.ok, 'a nonce counts once')
    }
  }
  trace.say(`call ${command.name}`)
  mortal.submit(command, take, {
    deadline: plus(at, ANSWER_WITHIN_MS),
    signedBy: { keyId, nonce },
  })
}

/** News of the rail arrives. */
export function hear({ rail, mortal, trace, odd }: Stage): void {
  const report = rail.deliver()
  trace.say(`news: ${report.status} of ${report.id}`)
  trace.count(`news: ${report.status}`)
  const takenIn = (): void => {
    if (rail.differs(report)) odd.add(report.id)
  }
  mortal.submit(railNews(report, 0), takenIn, { lane: 'ours' })
}

/** The pool tells what it has delivered. */
export function report({ bus, mortal, trace }: Stage): void {
  const ids = bus.unreported()
  trace.say(`settled: ${ids.length}`)
  mortal.submit(settleEvents(ids), () => bus.reported(ids), { lane: 'ours' })
}

/** Something in the processor goes on. */
export async function goOn(stage: Stage, place: number): Promise<void> {
  const { mortal, trace } = stage
  trace.say(`on: ${mortal.waiting()[place]}`)
  const lives = await mortal.letGo(place)
  if (!lives) await newLife(stage, 'stopped by a failed commit')
  await collect(stage)
}

export async function kill(stage: Stage): Promise<void> {
  const { mortal, trace } = stage
  if (mortal.underWay() > 0) trace.count('killed with calls under way')
  await mortal.kill()
  await newLife(stage, 'killed')
  await collect(stage)
}

async function newLife(stage: Stage, how: string): Promise<void> {
  const { rail, bus, mortal, witness, trace } = stage
  trace.say(how)
  trace.count(how)
  await witness.checkMarks(mortal.world.store.marks, stage.highWater.mark, rail, bus)
  if (rail.isUp) {
    rail.cut()
    rail.join()
  }
  await sweep(stage)
  await look(stage)
}

/** Takes what the processor let out. */
async function collect(stage: Stage): Promise<void> {
  const { mortal, witness, rail, bus, trace } = stage
  const { world } = mortal
  stage.highWater.mark = world.store.marks.progress()
  const orders = world.orders.splice(0)
  const events = world.events.splice(0)
  for (const order of orders) trace.count(`order: ${order.kind}`)
  await witness.checkLeft(orders, events)
  rail.send(orders)
  bus.publish(events)
  checkBalances(world.memory())
}

/** At the disk: everything that was ever answered is there, and the books are in order. */
export async function look({ witness, workload, rail }: Stage, isEnd = false): Promise<void> {
  await witness.checkKnown(workload)
  await witness.audit(rail, isEnd)
}

export function setRail({ rail, mortal, trace }: Stage, up: boolean): void {
  trace.say(`rail ${up ? 'up' : 'down'}`)
  trace.count(`rail ${up ? 'up' : 'down'}`)
  if (up) rail.join()
  else rail.cut()
  mortal.world.setRail(up)
}

export async function setBus(stage: Stage, up: boolean): Promise<void> {
  const { bus, trace } = stage
  trace.say(`bus ${up ? 'up' : 'down'}`)
  trace.count(`bus ${up ? 'up' : 'down'}`)
  if (!up) return bus.cut()
  bus.join()
  await sweep(stage)
}

/** Publishes what the outbox holds open, as a relay does at its start and when the bus is back. */
async function sweep({ bus, mortal }: Stage): Promise<void> {
  bus.publish(await mortal.world.store.openEvents(0, EVERY_EVENT))
}

export function pass({ mortal, trace }: Stage, milliseconds: number): void {
  mortal.world.clock.pass(milliseconds)
  if (milliseconds >= LEAP_MS) trace.count('leap')
  trace.say('time passes')
}
