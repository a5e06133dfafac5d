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
const NONCE_KEPT_MS = 9 * MINUTE
const EVERY_EVENT = 100_000
const LEAP_MS = 5_000

/** A partner's signed call. */
export function call(simulation: SimulationContext, { command, onAnswer }: Call): void {
  const { processor, trace, seededRandom: random, nonces } = simulation
  const { clock, memory } = processor.world
  const [keyId] = memory().keys.keys()
  assert.ok(keyId !== undefined)
  const used = random.once(15) && nonces.length > 0 ? random.pick(nonces) : undefined
  const at = clock.now()
  const nonce = used?.nonce ?? Buffer.from(Array.from({ length: 32 }, () => random.int(256)))
  const check = (answer: Answer): void => {
    trace.add(`${command.name}: ${answer.ok ? JSON.stringify(answer.view) : answer.code}`)
    if (answer.ok) trace.count(`accepted: ${command.name}`)
    const isTimeout = !answer.ok && answer.code === 'timeout'
    if (used === undefined) {
      if (!isTimeout) nonces.push({ nonce, at })
      onAnswer(answer)
    } else if (clock.now() - used.at < NONCE_KEPT_MS) {
      trace.count('nonce reused')
      assert.ok(!answer.ok, 'a nonce is accepted once')
    }
  }
  trace.add(`call ${command.name}`)
  processor.submit(command, check, {
    deadline: plus(at, ANSWER_WITHIN_MS),
    signedBy: { keyId, nonce },
  })
}

/** Delivers a report of the rail. */
export function receiveReport({ rail, processor, trace, mismatched }: SimulationContext): void {
  const report = rail.deliver()
  trace.add(`reports: ${report.status} of ${report.id}`)
  trace.count(`reports: ${report.status}`)
  const onApplied = (): void => {
    if (rail.differs(report)) mismatched.add(report.id)
  }
  processor.submit(applyRailReport(report, 0), onApplied, { queueKey: 'internal' })
}

/** The pool reports delivered events. */
export function settleDelivered({ bus, processor, trace }: SimulationContext): void {
  const ids = bus.unreported()
  trace.add(`settled: ${ids.length}`)
  processor.submit(settleEvents(ids), () => bus.reported(ids), { queueKey: 'internal' })
}

/** Runs one pending step of the processor. */
export async function runStep(simulation: SimulationContext, place: number): Promise<void> {
  const { processor, trace } = simulation
  trace.add(`step: ${processor.waiting()[place]}`)
  const isRunning = await processor.release(place)
  if (!isRunning) await afterRestart(simulation, 'stopped by a failed commit')
  await collect(simulation)
}

export async function kill(simulation: SimulationContext): Promise<void> {
  const { processor, trace } = simulation
  if (processor.inFlight() > 0) trace.count('killed with calls in flight')
  await processor.kill()
  await afterRestart(simulation, 'killed')
  await collect(simulation)
}

async function afterRestart(simulation: SimulationContext, how: string): Promise<void> {
  const { rail, bus, processor, checker, trace } = simulation
  trace.add(how)
  trace.count(how)
  await checker.checkMarks(processor.world.store.marks, simulation.highWater.mark, rail, bus)
  if (rail.isUp) {
    rail.disconnect()
    rail.connect()
  }
  await sweep(simulation)
  await checkDisk(simulation)
}

/** Takes the processor's output. */
async function collect(simulation: SimulationContext): Promise<void> {
  const { processor, checker, rail, bus, trace } = simulation
  const { world } = processor
  simulation.highWater.mark = world.store.marks.progress()
  const instructions = world.railInstructions.splice(0)
  const events = world.events.splice(0)
  for (const instruction of instructions) trace.count(`instruction: ${instruction.kind}`)
  await checker.checkOutput(instructions, events)
  rail.send(instructions)
  bus.publish(events)
  checkBalances(world.memory())
}

/** Checks on disk that every acknowledged request is there and the invariants hold. */
export async function checkDisk(
  { checker, workload, rail }: SimulationContext,
  isEnd = false,
): Promise<void> {
  await checker.checkAcknowledged(workload)
  await checker.audit(rail, isEnd)
}

export function setRail({ rail, processor, trace }: SimulationContext, up: boolean): void {
  trace.add(`rail ${up ? 'up' : 'down'}`)
  trace.count(`rail ${up ? 'up' : 'down'}`)
  if (up) rail.connect()
  else rail.disconnect()
  processor.world.setRail(up)
}

export async function setBus(simulation: SimulationContext, up: boolean): Promise<void> {
  const { bus, trace } = simulation
  trace.add(`bus ${up ? 'up' : 'down'}`)
  trace.count(`bus ${up ? 'up' : 'down'}`)
  if (!up) return bus.disconnect()
  bus.connect()
  await sweep(simulation)
}

/** Publishes the open events of the outbox, as the relay does at start and after a reconnect. */
async function sweep({ bus, processor }: SimulationContext): Promise<void> {
  bus.publish(await processor.world.store.openEvents(0, EVERY_EVENT))
}

export function passTime({ processor, trace }: SimulationContext, milliseconds: number): void {
  processor.world.clock.pass(milliseconds)
  if (milliseconds >= LEAP_MS) trace.count('leap')
  trace.add('time passes')
}
