/**
 * One simulation of a cluster: two shards, a processor of each and two spares, two gateways whose
 * partners call, and an operator who moves shards and partners and restores the cluster from
 * copies, in an order determined by the seed.
 *
 * Machines pause, crash, and are cut off from the store or from the gateways; a move can race with
 * each of them and with another move.
 *
 * - A shard is served within SERVED_WITHIN_MS once all machines work.
 * - Restored shards are released within RELEASED_WITHIN_MS, and the spares start then.
 * - A move without other faults fails no call.
 * - At the end every partner is served at each gateway, and no row is set apart. After restores
 *   each orphan execution is decided on within DECIDED_WITHIN_MS.
 */
import assert from 'node:assert/strict'
import { createSeededRandom } from '../../fuzz/seeded_random.js'
import { simulatedClock } from '../../support/world.js'
import { atRest, createScheduler, type Scheduler } from '../scheduler.js'
import { withFault, type MoveFault } from './faults.js'
import { createSimulatedGateway, type SimulatedGateway, type SimulatedMachine } from './gateway.js'
import { checkHistories } from './histories.js'
import { startClusterProcess, type ClusterProcess } from './processor.js'
import { checkNothingIsLeft, checkStep } from './copy_checks.js'
import { checkPartners } from './partner_checks.js'
import { createOrphanChecks } from './orphan_checks.js'
import { createOrphanOperator } from './orphan_operator.js'
import { createPartnerOperator, DISTURBANCES, type Disturbance } from './partners.js'
import { createSharedRail } from './rail.js'
import { createRestores } from './restores.js'
import { openClusterServer } from './server.js'
import type { KeyedCall } from './streams.js'
import { SHARDS } from './tables.js'
import { eventsIn } from './commits.js'

export interface MovesOptions {
  readonly seed: number
  readonly steps: number
  readonly fault?: MoveFault
  /** Whether the books are set back to copies. Default: of half of the seeds. */
  readonly restores?: boolean
  /** Whether rows of partners are set apart before they move. Default: of half of the seeds. */
  readonly copies?: boolean
}

interface Machine extends SimulatedMachine {
  readonly name: string
  scheduler: Scheduler
  current: ClusterProcess
  isPaused: boolean
  isCutFromStore: boolean
  isCutFromGateways: boolean
  /** When it starts again after a crash. */
  downUntil: number
  isStopped: boolean
  isRecoveryRequested: boolean
  /** High-water marks, by shard. */
  readonly disk: Map<string, string>
}

const MACHINES = [
  ['one', 'books_1'],
  ['two', 'books_2'],
  ['three', undefined],
  ['four', undefined],
] as const
const PARTNERS: Readonly<Record<string, readonly string[]>> = {
  books_1: ['acme', 'shop'],
  books_2: ['umbrella'],
}
const EVERYONE = Object.values(PARTNERS).flat()
const GATEWAYS = ['g1', 'g2'] as const
const KEYS = 12
/** Payouts of each partner. */
const PAY_KEYS = 6
const TICK_MS = 25
const DELAYS_MS = [25, 100, 400, 1_500] as const
const DOWN_MS = [0, 500, 3_000, 8_000] as const
/** A drain with unreachable gateways, then two consecutive owners that do not take over. */
const SERVED_WITHIN_MS = 20_000
/** The operator reconciles first. */
const RELEASED_WITHIN_MS = 120_000
/** Five attempts to move the partner, then its rows go back. */
const SETTLED_WITHIN_MS = 180_000
const DECIDED_WITHIN_MS = 120_000
const CALM_EVERY_STEPS = 1_500

const isOfRestores = ({ raisesByOne, restores }: MoveFault): boolean =>
  raisesByOne === true || restores === true
const lastKey = (partner: string): string => `${partner} last`
const isLast = ({ key }: KeyedCall, partner: string): boolean => key === lastKey(partner)

/** @returns the count of each kind of event */
export async function simulateMoves(options: MovesOptions): Promise<ReadonlyMap<string, number>> {
  const { seed, steps, fault } = options
  const random = createSeededRandom(seed, 0)
  const isRestored = options.restores ?? (fault === undefined ? seed % 4 > 1 : isOfRestores(fault))
  const hasCopies =
    options.copies ?? (fault === undefined ? (seed >> 2) % 2 === 1 : fault.copies === true)
  const isCalm = fault === undefined ? seed % 4 === 0 : fault.isCalm === true
  const clock = simulatedClock()
  const counts = new Map<string, number>()
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  let violation: Error | undefined
  const onViolation = (broken: Error): void => void (violation ??= broken)
  const checked = (check: () => void): void => {
    try {
      check()
    } catch (broken) {
      onViolation(broken as Error)
    }
  }
  let ticks = 0

  const planted = (sql: string): string => withFault(sql, fault)
  const server = openClusterServer({
    ...{ now: () => clock.now(), partners: PARTNERS, planted, onViolation },
    onMoved: (tables, isStep) => {
      const isOfBooks = tables.some((name) => !name.startsWith('main.'))
      if (isStep) {
        if (isOfBooks) checked(() => checkStep(server, tables))
        return
      }
      count('partner moved')
      checked(() => checkPartners(server, EVERYONE))
      checked(checks.check)
    },
  })
  const wire = createScheduler()
  wire.hold()

  let isRestoring = false
  const rail = createSharedRail({
    ...{ random: createSeededRandom(seed, 3), scheduler: wire, count, onViolation },
    now: () => clock.now(),
    onChange: () => {
      if (!isRestoring) checked(checks.check)
    },
  })
  const checks = createOrphanChecks({
    ...{ server, rail },
    isRestored: (shard) => restores?.isRestored(shard) === true,
  })

  const start = (machine: Machine, own: string | undefined): ClusterProcess => {
    machine.scheduler = createScheduler()
    machine.scheduler.hold()
    return startClusterProcess({
      ...{ name: machine.name, own, server, scheduler: machine.scheduler, fault, onViolation },
      ...{ copies: hasCopies, rail },
      ...(isRestored && {
        restores: {
          disk: machine.disk,
          isRequested: () => machine.isRecoveryRequested,
          timeline: (partner) => restores?.erasOf(partner).length ?? 0,
        },
      }),
      elapsed: () => clock.now(),
      clock,
      isReachable: () => !machine.isCutFromStore,
      isPaused: () => machine.isPaused,
      onEnd: (why) => {
        count(`ended: ${why}`)
        restores?.ended(machine, why)
        machine.downUntil = Math.max(machine.downUntil, clock.now())
      },
    })
  }
  const machines = MACHINES.map(([name, own]): Machine => {
    const machine: Omit<Machine, 'current'> = {
      name,
      scheduler: createScheduler(),
      ...{ isPaused: false, isCutFromStore: false, isCutFromGateways: false, downUntil: 0 },
      ...{ isStopped: false, isRecoveryRequested: false, disk: new Map() },
      process: () => whole.current,
      isReachable: () => !whole.isPaused && !whole.isCutFromGateways,
    }
    const whole: Machine = Object.assign(machine, { current: undefined! })
    whole.current = start(whole, own)
    return whole
  })
  const byAddress = new Map(machines.map((machine) => [`${machine.name}:1`, machine]))
  const gateways = GATEWAYS.map((name) =>
    createSimulatedGateway({
      ...{ name, scheduler: wire, clock, machines: byAddress, fault, onViolation },
      showsMarks: isRestored,
      tick: () => (ticks += 1),
      onCount: count,
    }),
  )
  const restores = isRestored
    ? createRestores({
        ...{ random: createSeededRandom(seed, 1), clock, server, machines, gateways },
        ...{ count, onViolation },
        onRestored: (shards) => {
          isRestoring = true
          rail.cutOff(shards)
          isRestoring = false
          orphans.restored()
          checks.restored(shards)
        },
        reconcile: (...restored) => orphans.reconcile(...restored),
        onReleased: () => checked(checks.check),
      })
    : undefined
  const schedulers = (): readonly Scheduler[] => [
    server.scheduler,
    wire,
    ...machines.flatMap(({ isPaused, scheduler, current }) =>
      isPaused || !current.isAlive() ? [] : [scheduler],
    ),
  ]
  const restartEnded = (): void => {
    for (const [index, machine] of machines.entries())
      if (!machine.current.isAlive() && !machine.isStopped && clock.now() >= machine.downUntil)
        machine.current = start(machine, MACHINES[index]![1])
  }
  const releaseOne = async (
    ready: readonly (readonly [Scheduler, number])[],
    ordinal: number,
  ): Promise<void> => {
    let before = 0
    for (const [scheduler, count] of ready) {
      if (ordinal < before + count) return scheduler.release(ordinal - before)
      before += count
    }
  }
  /** Runs a step that is ready, or lets time pass. */
  const advance = async (): Promise<void> => {
    if (restores?.isOpen() === true) restores.operate()
    if (isRestored) {
      rail.passed()
      orphans.act()
    }
    restartEnded()
    await atRest()
    const ready = schedulers().map((scheduler) => [scheduler, scheduler.waiting().length] as const)
    const steps = ready.reduce((sum, [, count]) => sum + count, 0)
    if (steps === 0) clock.pass(TICK_MS)
    else if (!isCalm && random.once(40)) clock.pass(random.pick(DELAYS_MS))
    else await releaseOne(ready, random.int(steps))
    partnerMoves.passed()
    if (violation !== undefined) throw violation
  }
  const ownerOf = (shard: string): Machine | undefined =>
    machines
      .filter(({ current }) => current.isAlive() && current.shard() === shard)
      .sort((one, other) => other.current.epoch() - one.current.epoch())[0]
  const areServed = (): boolean => SHARDS.every((shard) => ownerOf(shard) !== undefined)

  const call = (): void => {
    const shard = random.pick(SHARDS)
    const partner = random.pick(PARTNERS[shard]!)
    const kind = random.pick<KeyedCall['kind']>(['create', 'create', 'advance', 'read', 'read'])
    const gateway = random.pick(gateways)
    if (isRestored && random.once(2))
      gateway.call({ kind: 'pay', partner, key: `${partner} pay ${random.int(PAY_KEYS)}` })
    else gateway.call({ kind, partner, key: `${partner} ${random.int(KEYS)}` })
  }
  /** The latest target of each shard. */
  const moving = new Map<string, string>()
  /** An operator's, by any process that runs. */
  const move = async (): Promise<void> => {
    const shard = random.pick(SHARDS)
    const source = ownerOf(shard)
    const waiting = machines.filter(
      ({ current }) => current.isAlive() && current.shard() === undefined && current.epoch() === 0,
    )
    if (source === undefined || waiting.length === 0) return
    // Of two moves to one processor the second waits for a lease that no other takes at once.
    if (isCalm && [...moving].some(([each, to]) => ownerOf(each)?.name !== to)) return
    const target = random.pick(waiting)
    moving.set(shard, target.name)
    const { epoch } = server.owner(shard)
    const by = random.pick(machines.filter(({ current }) => current.isAlive()))
    by.current
      .cluster()
      .requestMove(shard, epoch, target.name)
      .then(
        (isMoving) => count(isMoving ? 'moves' : 'moves refused'),
        () => undefined,
      )
    if (!isCalm && random.once(2)) disturb(random.pick([source, target]), anyDisturbance())
  }
  const anyDisturbance = (): Disturbance => random.pick(['kill', ...DISTURBANCES])
  const disturb = (machine: Machine, what: Disturbance): void => {
    count(what)
    if (what === 'pause') machine.isPaused = true
    else if (what === 'store') machine.isCutFromStore = true
    else if (what === 'gateways') machine.isCutFromGateways = true
    else {
      machine.downUntil = clock.now() + random.pick(DOWN_MS)
      machine.current.end('killed')
    }
  }
  const repair = (machine: Machine): void => {
    machine.isPaused = false
    machine.isCutFromStore = false
    machine.isCutFromGateways = false
    machine.downUntil = Math.min(machine.downUntil, clock.now())
  }
  const settle = async (): Promise<void> => {
    partnerMoves.calm()
    for (const machine of machines) repair(machine)
    const since = clock.now()
    while (!areServed()) {
      if (clock.now() - since > SERVED_WITHIN_MS)
        throw new Error(`a shard is not served within ${SERVED_WITHIN_MS} ms`)
      await advance()
    }
  }
  /** A restore that is under way ends. */
  const release = async (): Promise<void> => {
    const since = clock.now()
    while (restores?.isOpen() === true) {
      if (clock.now() - since > RELEASED_WITHIN_MS)
        throw new Error(`restored shards are not released within ${RELEASED_WITHIN_MS} ms`)
      await advance()
    }
    await settle()
  }
  const partnerMoves = createPartnerOperator<Machine>({
    ...{ random: createSeededRandom(seed, 2), server, machines, ownerOf, count },
    copies: hasCopies,
    disturb: isCalm ? undefined : disturb,
  })
  const orphans = createOrphanOperator({
    ...{ random: createSeededRandom(seed, 4), server, rail, fault, count },
    ownerOf: (shard) => ownerOf(shard)?.current,
  })
  /** Partners repeat nothing any more. */
  const untilDecided = async (): Promise<void> => {
    rail.finish()
    orphans.finish()
    const since = clock.now()
    while (orphans.hasWork()) {
      if (clock.now() - since > DECIDED_WITHIN_MS)
        throw new Error(`an orphan execution is open for longer than ${DECIDED_WITHIN_MS} ms`)
      await advance()
    }
    checks.checkEnd()
  }
  /** What is set apart is of one shard again. */
  const untilSettled = async (): Promise<void> => {
    const since = clock.now()
    while (server.tables.all('SELECT 1 FROM partner_copies').length > 0) {
      if (clock.now() - since > SETTLED_WITHIN_MS)
        throw new Error(`rows are set apart for longer than ${SETTLED_WITHIN_MS} ms`)
      await advance()
    }
    checkNothingIsLeft(server)
  }
  /** Every partner is served at the end, at each gateway. A take-over can fail the first call. */
  const callLast = async (): Promise<void> => {
    const since = clock.now()
    const isDone = (gateway: SimulatedGateway, partner: string): boolean =>
      gateway.history.some((call) => isLast(call, partner) && call.outcome !== 'unknown')
    const isOpen = (gateway: SimulatedGateway, partner: string): boolean =>
      gateway.history.some((call) => isLast(call, partner) && call.answered === null)
    for (let left = gateways.length * EVERYONE.length; left > 0; await advance()) {
      left = 0
      for (const gateway of gateways)
        for (const partner of EVERYONE.filter((each) => !isDone(gateway, each))) {
          left += 1
          if (isOpen(gateway, partner)) continue
          gateway.call({ kind: 'read', partner, key: lastKey(partner) })
        }
      if (left > 0 && clock.now() - since > SERVED_WITHIN_MS)
        throw new Error(`a partner is not served within ${SERVED_WITHIN_MS} ms`)
    }
  }
  const movesOnceIn = hasCopies ? 2 : isRestored ? 3 : 4
  const act = (): Promise<void> | void => {
    if (random.once(movesOnceIn)) return partnerMoves.move()
    if (random.once(3)) return move()
    if (isCalm) return
    if (random.once(2)) repair(random.pick(machines))
    else disturb(random.pick(machines), anyDisturbance())
  }

  try {
    await settle()
    const until = clock.now() + 1_000
    while (clock.now() < until) await advance()
    for (let step = 1; step <= steps; step++) {
      restores?.draw()
      if (random.once(10)) call()
      else if (random.once(60)) await act()
      else await advance()
      if (step % CALM_EVERY_STEPS === 0) await settle()
    }
    await settle()
    await release()
    const end = clock.now() + SERVED_WITHIN_MS
    while (clock.now() < end) await advance()
    if (isRestored) await untilDecided()
    await untilSettled()
    await callLast()
    const history = gateways.flatMap((gateway) => gateway.history)
    if (isCalm && !isRestored) {
      const failed = history.filter(({ outcome }) => outcome === 'unknown')
      assert.equal(failed.length, 0, 'a move without other faults fails no call')
    }
    checkPartners(server, EVERYONE)
    checkHistories(history, eventsIn(server), restores?.erasOf)
    return counts
  } finally {
    for (const machine of machines) machine.scheduler.forget()
    wire.forget()
    server.scheduler.forget()
    server.close()
    partnerMoves.close()
  }
}
