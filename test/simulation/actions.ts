/**
 * The actions of a simulation step, each followed by its checks.
 *
 * Does not own: the choice of the next action (simulation).
 */
import assert from 'node:assert/strict'
import { ANSWER_WITHIN_MS } from '../../src/base/constants.js'
import { MINUTE, plus } from '../../src/base/clock.js'
import { settleEvents } from '../../src/processor/commands/webhook_endpoints/events_settle.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { checkBalances } from './invariant_checker.js'
import type { SimulationContext } from './simulation_context.js'
import type { Call } from './calls.js'

/** Less than the retention of a nonce. */
const REMEMBERED_MS = 9 * MINUTE
const EVERY_EVENT = 100_000
const LEAP_MS = 5_000

/** A partner's signed call. */
export function call(simulation: SimulationContext, { command, heard }: Call): void {
  const { processor, trace, seededRandom: random, nonces } = simulation
  const { clock, memory } = processor.world
  const [keyId] = memory().keys.keys()
  assert.ok(keyId !== undefined)
  const spent = random.once(15) && nonces.length > 0 ? random.pick(nonces) : undefined
  const at = clock.now()
  const nonce = spent?.nonce ?? Buffer.from(Array.from({ length: 32 }, () => random.int(256)))
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
  processor.submit(command, take, {
    deadline: plus(at, ANSWER_WITHIN_MS),
    signedBy: { keyId, nonce },
  })
}

/** A report of the rail arrives. */
export function hear({ rail, processor, trace, odd }: SimulationContext): void {
  const report = rail.deliver()
  trace.say(`reports: ${report.status} of ${report.id}`)
  trace.count(`reports: ${report.status}`)
  const takenIn = (): void => {
    if (rail.differs(report)) odd.add(report.id)
  }
  processor.submit(applyRailReport(report, 0), takenIn, { queueKey: 'internal' })
}

/** The pool reports delivered events. */
export function report({ bus, processor, trace }: SimulationContext): void {
  const ids = bus.unreported()
  trace.say(`settled: ${ids.length}`)
  processor.submit(settleEvents(ids), () => bus.reported(ids), { queueKey: 'internal' })
}

/** One pending step of the processor runs. */
export async function goOn(simulation: SimulationContext, place: number): Promise<void> {
  const { processor, trace } = simulation
  trace.say(`on: ${processor.waiting()[place]}`)
  const lives = await processor.letGo(place)
  if (!lives) await newLife(simulation, 'stopped by a failed commit')
  await collect(simulation)
}

export async function kill(simulation: SimulationContext): Promise<void> {
  const { processor, trace } = simulation
  if (processor.underWay() > 0) trace.count('killed with calls under way')
  await processor.kill()
  await newLife(simulation, 'killed')
  await collect(simulation)
}

async function newLife(simulation: SimulationContext, how: string): Promise<void> {
  const { rail, bus, processor, checker, trace } = simulation
  trace.say(how)
  trace.count(how)
  await checker.checkMarks(processor.world.store.marks, simulation.highWater.mark, rail, bus)
  if (rail.isUp) {
    rail.cut()
    rail.join()
  }
  await sweep(simulation)
  await look(simulation)
}

/** Takes the processor's output. */
async function collect(simulation: SimulationContext): Promise<void> {
  const { processor, checker, rail, bus, trace } = simulation
  const { world } = processor
  simulation.highWater.mark = world.store.marks.progress()
  const instructions = world.railInstructions.splice(0)
  const events = world.events.splice(0)
  for (const instruction of instructions) trace.count(`order: ${instruction.kind}`)
  await checker.checkLeft(instructions, events)
  rail.send(instructions)
  bus.publish(events)
  checkBalances(world.memory())
}

/** Checks on disk that every acknowledged request is there and the invariants hold. */
export async function look(
  { checker, workload, rail }: SimulationContext,
  isEnd = false,
): Promise<void> {
  await checker.checkKnown(workload)
  await checker.audit(rail, isEnd)
}

export function setRail({ rail, processor, trace }: SimulationContext, up: boolean): void {
  trace.say(`rail ${up ? 'up' : 'down'}`)
  trace.count(`rail ${up ? 'up' : 'down'}`)
  if (up) rail.join()
  else rail.cut()
  processor.world.setRail(up)
}

export async function setBus(simulation: SimulationContext, up: boolean): Promise<void> {
  const { bus, trace } = simulation
  trace.say(`bus ${up ? 'up' : 'down'}`)
  trace.count(`bus ${up ? 'up' : 'down'}`)
  if (!up) return bus.cut()
  bus.join()
  await sweep(simulation)
}

/** Publishes the open events of the outbox, as the relay does at start and after a reconnect. */
async function sweep({ bus, processor }: SimulationContext): Promise<void> {
  bus.publish(await processor.world.store.openEvents(0, EVERY_EVENT))
}

export function pass({ processor, trace }: SimulationContext, milliseconds: number): void {
  processor.world.clock.pass(milliseconds)
  if (milliseconds >= LEAP_MS) trace.count('leap')
  trace.say('time passes')
}
