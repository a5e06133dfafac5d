/**
 * The actions of a simulation step, each followed by its checks.
 *
 * Does not own: the choice of the next action (simulation).
 */
import assert from 'node:assert/strict'
import { ANSWER_WITHIN_MS } from '../../src/base/constants.js'
import { MINUTE } from '../../src/base/clock.js'
import { settleEvents } from '../../src/processor/commands/webhook_endpoints/events_settle.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import { checkBalances } from './invariant_checker.js'
import type { SimulationContext } from './simulation_context.js'
import type { SimulatedCall } from './calls.js'
import type { OnAnswer } from './processors.js'

/** Shorter than the retention of a nonce. */
const NONCE_KEPT_MS = 9 * MINUTE
const LEAP_MS = 5_000
/** The rail answers `not_found` before it too, of what it has. */
const FINALITY_WINDOW_MS = 30_000

/** A partner's signed call. */
export function call(
  simulation: SimulationContext,
  { commandAt, onAnswer, isBearer }: SimulatedCall,
): void {
  const { processors, trace, seededRandom: random, nonces, workload, stops } = simulation
  const { active, revoked } = workload.keys
  const { clock } = processors
  const used = random.once(15) && nonces.length > 0 ? random.pick(nonces) : undefined
  const at = clock.now()
  const { name } = commandAt(at)
  const isRevoked = used === undefined && revoked.length > 0 && random.once(15)
  const checkStart = stops.checkStart(name)
  const nonce = used?.nonce ?? Buffer.from(Array.from({ length: 32 }, () => random.int(256)))
  const check: OnAnswer = (answer, isLate) => {
    trace.add(`${name}: ${answer.ok ? JSON.stringify(answer.view) : answer.code}`)
    if (answer.ok) trace.count(`accepted: ${name}`)
    if (isLate) trace.count('late answer')
    checkStart(answer)
    const isTimeout = !answer.ok && answer.code === 'timeout'
    if (isRefusedInRecovery(simulation, answer)) return void nonces.push({ nonce, at })
    if (isBearer === true) return onAnswer(answer, isLate)
    if (isRevoked) {
      trace.count('revoked key')
      return assert.ok(!answer.ok, 'a revoked key signs nothing')
    }
    if (used === undefined) {
      if (!isTimeout) nonces.push({ nonce, at })
      onAnswer(answer, isLate)
    } else if (clock.now() - used.at < NONCE_KEPT_MS) {
      trace.count('nonce reused')
      assert.ok(!answer.ok, 'a nonce is accepted once')
    }
  }
  trace.add(`call ${name}`)
  const keyId = isRevoked ? random.pick(revoked) : active.at(-1)!
  const signedBy = isBearer === true ? null : { keyId, nonce, signedAt: null }
  processors.submit(commandAt, check, { withinMs: ANSWER_WITHIN_MS, signedBy })
}

/** An operator stops submissions or the partner, or lets them go on. */
export function switchStop(simulation: SimulationContext): void {
  callOfOperator(simulation, simulation.seededRandom.pick(simulation.stops.candidates()).next())
}

export function callOfOperator(
  { processors, trace }: SimulationContext,
  { commandAt, onAnswer }: SimulatedCall,
): void {
  const { name } = commandAt(processors.clock.now())
  trace.add(`call ${name}`)
  const check: OnAnswer = (answer, isLate) => {
    trace.add(`${name}: ${answer.ok ? JSON.stringify(answer.view) : answer.code}`)
    if (answer.ok) trace.count(`accepted: ${name}`)
    onAnswer(answer, isLate)
  }
  processors.submit(commandAt, check, { queueKey: 'internal' })
}

/** Delivers a report of the rail. */
export function receiveReport({ rail, processors, trace, mismatched }: SimulationContext): void {
  const report = rail.deliver()
  trace.add(`reports: ${report.status} of ${report.id}`)
  trace.count(`reports: ${report.status}`)
  const onApplied: OnAnswer = ({ ok }) => {
    // The rail's statement can have named no account of an orphan execution.
    const isAccountKnown = processors
      .memories()
      .every(({ orphans }) => orphans.get(report.id)?.destination !== null)
    if (ok && rail.differs(report, isAccountKnown)) mismatched.add(report.id)
  }
  processors.submit(() => applyRailReport(report, FINALITY_WINDOW_MS), onApplied, {
    queueKey: 'internal',
  })
}

/** The pool reports delivered events. */
export function settleDelivered({ bus, processors, trace }: SimulationContext): void {
  const ids = bus.unreported()
  trace.add(`settled: ${ids.length}`)
  processors.submit(
    () => settleEvents(ids),
    ({ ok }) => {
      if (ok) bus.reported(ids)
    },
    { queueKey: 'internal' },
  )
}

/** Runs one pending step of the processor. */
export async function runStep(simulation: SimulationContext, index: number): Promise<void> {
  const { processors, restoreOperator, trace } = simulation
  trace.add(`step: ${processors.waiting()[index]}`)
  const restarted = await processors.release(index)
  if (restarted !== null) await afterRestart(simulation, restarted)
  await collect(simulation)
  if (!restoreOperator.takeReleased()) return
  const released = await processors.recovery.released()
  if (released !== null) await afterRestart(simulation, released)
  await collect(simulation)
}

export async function kill(simulation: SimulationContext): Promise<void> {
  const { processors, trace } = simulation
  trace.add('kill')
  if (processors.inFlight() > 0) trace.count('killed with calls in flight')
  const restarted = await processors.kill()
  if (restarted !== null) await afterRestart(simulation, restarted)
  await collect(simulation)
}

/** Pauses a processor, cuts it off, makes it release the books, or fails the server over. */
export async function disturb(simulation: SimulationContext): Promise<void> {
  const { processors, trace } = simulation
  const what = await processors.disturb()
  trace.add(what)
  trace.count(what)
  await collect(simulation)
}

/** Faults have stopped: one processor serves. */
export async function settle(simulation: SimulationContext): Promise<void> {
  await simulation.processors.settle()
  await afterRestart(simulation, 'settled')
  await collect(simulation)
}

export async function afterRestart(simulation: SimulationContext, how: string): Promise<void> {
  const { rail, bus, processors, checker, lost, trace, workload } = simulation
  trace.add(how)
  trace.count(how)
  simulation.restoreOperator.onRestart(simulation)
  if (!isInRecovery(simulation)) await checker.checkMarks(processors.marks(), rail, bus, lost)
  if (rail.isUp) {
    rail.disconnect()
    rail.connect()
  }
  await sweep(simulation)
  await checker.checkAcknowledged(workload)
}

const isInRecovery = ({ processors }: SimulationContext): boolean => processors.recovery.isActive()

/** It says nothing about earlier calls with the same key. */
const isRefusedInRecovery = ({ processors }: SimulationContext, answer: Answer): boolean =>
  !answer.ok && answer.code === 'configuration_error' && processors.recovery.isRefusing()

/** Takes the processor's output. */
async function collect(simulation: SimulationContext): Promise<void> {
  const { processors, checker, rail, bus, trace, stops, lost } = simulation
  const { instructions, events } = processors.takeOutput()
  for (const instruction of instructions) trace.count(`instruction: ${instruction.kind}`)
  await checker.checkOutput(instructions, events, stops.pausedSince())
  rail.send(instructions)
  lost.checkNumbers(events)
  bus.publish(events.filter(({ isSettled }) => isSettled !== true))
  for (const memory of processors.memories()) checkBalances(memory)
}

/** Checks on disk that every acknowledged request is there and, if audited, the invariants. */
export async function checkDisk(
  simulation: SimulationContext,
  isAudited: boolean,
  isEnd = false,
): Promise<void> {
  const { checker, workload, rail } = simulation
  await checker.checkAcknowledged(workload)
  // What is lost is accepted with the release.
  if (isAudited && !isInRecovery(simulation)) await checker.audit(rail, isEnd)
}

export function setRail({ rail, processors, trace }: SimulationContext, up: boolean): void {
  trace.add(`rail ${up ? 'up' : 'down'}`)
  trace.count(`rail ${up ? 'up' : 'down'}`)
  if (up) rail.connect()
  else rail.disconnect()
  processors.setRail(up)
}

/** The rail's journal is restored from a copy: it has forgotten what it accepted since. */
export function takeRailBack({ rail, trace }: SimulationContext): void {
  const forgotten = rail.goBack()
  trace.add(`rail back: ${forgotten}`)
  if (forgotten > 0) trace.count('rail back')
}

export async function setBus(simulation: SimulationContext, up: boolean): Promise<void> {
  const { bus, trace } = simulation
  trace.add(`bus ${up ? 'up' : 'down'}`)
  trace.count(`bus ${up ? 'up' : 'down'}`)
  if (!up) return bus.disconnect()
  bus.connect()
  await sweep(simulation)
}

/** The bus is new: the relay publishes again what has no outcome. */
export async function wipeBus(simulation: SimulationContext): Promise<void> {
  const { bus, trace } = simulation
  trace.add('bus wiped')
  trace.count('bus wiped')
  bus.disconnect()
  bus.connect()
  await sweep(simulation)
}

/** Publishes the open events of the outbox, as the relay does at start and after a reconnect. */
async function sweep(simulation: SimulationContext): Promise<void> {
  if (isInRecovery(simulation)) return
  const { bus, lost, processors } = simulation
  const events = await processors.openEvents()
  lost.checkNumbers(events)
  bus.publish(events)
}

export function passTime({ processors, trace }: SimulationContext, milliseconds: number): void {
  processors.clock.pass(milliseconds)
  if (milliseconds >= LEAP_MS) trace.count('leap')
  trace.add('time passes')
}
