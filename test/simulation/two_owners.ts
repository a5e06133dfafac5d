/**
 * Two processors over one set of books: each on a machine that can pause, be cut off, crash and
 * restart. One owns the books; the other is a candidate or a former owner.
 *
 * Owns: the machines, the choice of the processor for a call, the invariants of answers. Does not
 * own: the start of a processor (owner_process), the chain of commits (books_network).
 *
 * - F5: an answer needs a commit or a barrier: no call is answered by a processor that had lost the
 *   books before the call was made.
 * - F4: nothing acknowledged is lost: the books are never behind what a processor has recorded,
 *   unless they were restored and the loss is not accepted yet.
 * - Gateways carry what a processor has recorded to the other one.
 */
import assert from 'node:assert/strict'
import { MINUTE, plus, SECOND } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import { createOrphanInquiries } from '../../src/processor/background/orphan_inquiries.js'
import type { CommittedEvent } from '../../src/processor/cycle/commit_batch.js'
import { ensureDemo } from '../../src/processor/commands/partners/demo_ensure.js'
import type { Work } from '../../src/processor/cycle/command.js'
import { isAhead } from '../../src/processor/recovery/high_water.js'
import { SANDBOX_RAIL, type RailInstruction } from '../../src/rails/rail.js'
import type { Progress } from '../../src/store/progress.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { tempFolder } from '../support/temp_folder.js'
import { simulatedClock, type Home } from '../support/world.js'
import { CLOCK_SPEED, createBooksNetwork, type WriteOutcome } from './books_network.js'
import { openBooksServer, type BooksServer } from './books_server.js'
import { startOwnerProcess, type OwnerProcess } from './owner_process.js'
import type { PlantedFault } from './planted_faults.js'
import { arrivedWork, subscribe, type Processors } from './processors.js'
import { atRest, createScheduler, type Scheduler, type Step } from './scheduler.js'
import type { Act } from './swarm.js'

export interface TwoOwnersOptions {
  readonly home: Home
  readonly open: typeof openDatabase
  readonly random: Random
  readonly seededRandom: SeededRandom
  readonly outcomeOfWrite: () => WriteOutcome
  readonly fault: PlantedFault | null
  readonly warmActors: number
  /** The faults of `disturb`. */
  readonly acts: readonly Act[]
  readonly onCount: (what: string) => void
}

type Cut = 'store' | 'gateways' | 'rail'

interface Machine {
  readonly name: string
  /** How far its clock is ahead. */
  skewMs: number
  /** The speed of its monotonic clock, and its start. */
  readonly speed: number
  readonly elapsedAtStart: number
  isPaused: boolean
  readonly cuts: Set<Cut>
  process: OwnerProcess
  inFlight: number
  /** Calls that arrived while it is paused. */
  inbox: (() => void)[]
  /** On its own disk. */
  highWater: Omit<Progress, 'booksId'>
}

const CUTS: readonly Cut[] = ['store', 'gateways', 'rail']
const SKEWS_MS = [0, 2 * MINUTE, -2 * MINUTE]
/** Codes of answers that need neither a commit nor a barrier. */
const UNDECIDED = ['timeout', 'configuration_error']
const STEPS_MAX = 100_000
const STEP_MS = 250
/** Per processor. */
const CALLS_MAX = 12
const EVERY_EVENT = 100_000

export async function startTwoOwners(options: TwoOwnersOptions): Promise<Processors> {
  const { home, random, seededRandom, onCount } = options
  const folder = tempFolder(home)
  const clock = simulatedClock()
  let fault: PlantedFault | null = null
  let violation: Error | undefined
  let railUp = true
  let hasTakenOver = false
  let instructions: RailInstruction[] = []
  let events: CommittedEvent[] = []
  const onViolation = (broken: Error): void => void (violation ??= broken)

  /** Processors enter recovery mode until one has. */
  let isRecoveryRequested = false
  let isRecovering = false
  /** The epoch of the loss that was accepted last, in the restored copy. */
  let acceptedBefore: number | null = null
  const openServer = (): Promise<BooksServer> => openBooksServer(folder, () => fault, options.open)

  const network = await createBooksNetwork({
    folder,
    server: await openServer(),
    reopen: openServer,
    now: () => clock.now(),
    random: seededRandom,
    outcomeOfWrite: options.outcomeOfWrite,
    onViolation,
    onCount,
  })
  home.teardown(() => network.close())
  network.hold()

  const startOn = (machine: Omit<Machine, 'process'>): OwnerProcess => {
    const scheduler = createScheduler()
    scheduler.hold()
    machine.inFlight = 0
    machine.inbox = []
    const started = clock.now()
    const process: OwnerProcess = startOwnerProcess({
      holder: machine.name,
      network,
      scheduler,
      clock: { now: () => plus(clock.now(), machine.skewMs) },
      elapsed: () => machine.elapsedAtStart + (clock.now() - started) * machine.speed,
      random,
      warmActors: options.warmActors,
      fault: () => fault,
      isReachable: () => !machine.cuts.has('store'),
      railUp: () => railUp && !machine.cuts.has('rail'),
      onInstructions: (sent) => {
        if (!machine.cuts.has('rail')) instructions.push(...sent)
      },
      onEvents: (published) => void events.push(...published),
      entersRecovery: () => isRecoveryRequested || (isLossOpen() && isBehind(machines)),
      onServing: () => {
        hasTakenOver = true
        isRecovering = process.isInRecovery()
        if (isRecovering) isRecoveryRequested = false
        else if (isBehind([machine]))
          onViolation(new Error(`F4: the books are behind batch ${machine.highWater.lastBatch}`))
      },
      onEnd: (why) => onCount(`ended: ${why}`),
      onViolation,
    })
    return process
  }
  const createMachine = (name: string, speed: number, skewMs: number): Machine => {
    const machine = {
      name,
      skewMs,
      speed,
      elapsedAtStart: seededRandom.int(SECOND),
      isPaused: false,
      cuts: new Set<Cut>(),
      inFlight: 0,
      inbox: [],
      highWater: { epoch: 0, lastBatch: 0 },
    }
    return Object.assign(machine, { process: startOn(machine) })
  }
  const isLossOpen = (): boolean => network.owner.acceptedEpoch === acceptedBefore
  const isBehind = (recorders: readonly Pick<Machine, 'highWater'>[]): boolean => {
    const progress = network.progress()
    const { booksId } = progress
    return recorders.some(({ highWater }) => isAhead({ booksId, ...highWater }, progress))
  }
  const machines: Machine[] = []
  machines.push(createMachine('one', 1, 0))
  const serving = (): Machine[] => machines.filter(({ process }) => process.isServing())
  const owner = (): Machine | undefined =>
    serving().find(({ process }) => process.ownership().epoch === network.owner.epoch)

  /** In recovery mode the mark stays the evidence of the loss. */
  const noteProgress = (): void => {
    for (const machine of machines) {
      const { process } = machine
      if (process.isServing() && !process.isInRecovery()) machine.highWater = process.ownership()
    }
  }
  /** Restarts processes that have ended, or have released a recovery. @returns the effect */
  const afterStep = async (): Promise<string | null> => {
    noteProgress()
    const newest = Math.max(...machines.map(({ highWater }) => highWater.epoch))
    for (const { process } of machines) if (process.isReleased()) process.acceptLoss(newest)
    for (const machine of machines) {
      if (!machine.process.isAlive()) machine.process = startOn(machine)
    }
    await atRest()
    if (violation !== undefined) throw violation
    const isNew = hasTakenOver
    hasTakenOver = false
    return isNew ? 'serves from the books' : null
  }
  const schedulers = (): readonly Pick<Scheduler, 'waiting' | 'release'>[] => [
    network,
    ...machines.flatMap(({ isPaused, process }) => (isPaused ? [] : [process.scheduler])),
  ]
  const waiting = (): readonly Step[] => schedulers().flatMap((each) => each.waiting())
  const release = async (index: number): Promise<string | null> => {
    let left = index
    for (const scheduler of schedulers()) {
      const count = scheduler.waiting().length
      if (left < count) {
        await scheduler.release(left)
        break
      }
      left -= count
    }
    return afterStep()
  }
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let step = 0; !isDone(); step++) {
      assert.ok(step < STEPS_MAX, 'a processor serves')
      await atRest()
      const index = waiting().findIndex((what) => what !== 'pause')
      if (index < 0) clock.pass(STEP_MS)
      else await release(index)
    }
  }

  /** Most calls go to the latest announced owner. */
  const machineFor = (isInternal: boolean, isSigned: boolean): Machine | undefined => {
    const cut: Cut = isInternal ? 'rail' : 'gateways'
    const known = serving().filter(
      (machine) => !machine.cuts.has(cut) && !(isInternal && machine.isPaused),
    )
    if (known.length > 1 && seededRandom.once(isSigned ? 6 : 2)) return seededRandom.pick(known)
    return known.sort((one, other) => epochOf(other) - epochOf(one))[0]
  }
  const submit: Processors['submit'] = (commandAt, onAnswer, options = {}) => {
    const isInternal = options.queueKey === 'internal'
    const machine = machineFor(isInternal, options.signedBy != null)
    if (machine === undefined || (!isInternal && machine.inFlight >= CALLS_MAX)) return
    const { process } = machine
    const epochAtCall = network.owner.epoch
    machine.inFlight += 1
    const reply: OnReply = (answer) => {
      if (!process.isAlive()) return
      machine.inFlight -= 1
      if (!isInternal && machine.cuts.has('gateways')) return
      const { epoch } = process.ownership()
      const isDecided = answer.ok || !UNDECIDED.includes(answer.code)
      if (isDecided && epoch < epochAtCall)
        onViolation(new Error(`F5: epoch ${epoch} answers a call of epoch ${epochAtCall}`))
      try {
        onAnswer(answer, epoch < network.owner.epoch)
      } catch (error) {
        onViolation(error as Error)
      }
    }
    const arrive = (): void =>
      process.submit({ ...arrivedWork(commandAt, options, process.now()), reply })
    if (machine.isPaused) machine.inbox.push(arrive)
    else arrive()
  }

  const wake = (machine: Machine): void => {
    machine.isPaused = false
    for (const arrive of machine.inbox.splice(0)) arrive()
  }
  /** Mostly the owner's machine. */
  const anyMachine = (): Machine =>
    (seededRandom.once(3) ? undefined : owner()) ?? seededRandom.pick(machines)
  const stall = (): string => {
    const machine = anyMachine()
    machine.isPaused = true
    return `pause ${machine.name}`
  }
  const cutOff = (): string => {
    const { name, cuts } = anyMachine()
    const cut = seededRandom.pick(CUTS)
    cuts.add(cut)
    return `cut ${name} from ${cut}`
  }
  /** The machines that are paused or cut off. */
  const repairs = (): (() => string)[] =>
    machines.flatMap((machine) => [
      ...(machine.isPaused ? [() => (wake(machine), `wake ${machine.name}`)] : []),
      ...[...machine.cuts].map((cut) => () => {
        machine.cuts.delete(cut)
        return `connect ${machine.name} to ${cut}`
      }),
    ])
  const failOver = async (): Promise<string> => {
    await network.failOver()
    return 'failover'
  }
  const move = (): string => {
    owner()?.process.release()
    return 'release'
  }
  const stepClock = (): string => {
    const machine = anyMachine()
    machine.skewMs = seededRandom.pick(SKEWS_MS)
    return `clock of ${machine.name}`
  }
  const actOf = {
    ...{ pause: stall, cut: cutOff, failover: failOver, release: move, clock: stepClock },
  } as const

  await until(() => owner() !== undefined)
  let isSetUp = false
  submit(ensureDemo, () => submit(subscribe, () => (isSetUp = true)))
  await until(() => isSetUp)
  const keyId = [...machines[0]!.process.memory().keys.values()][0]?.id
  const speed = seededRandom.pick([1, CLOCK_SPEED, 1 / CLOCK_SPEED])
  machines.push(createMachine('two', speed, seededRandom.pick(SKEWS_MS)))
  hasTakenOver = false
  fault = options.fault

  return {
    count: 2,
    clock,
    keyId: () => keyId!,
    memories: () => [owner()].flatMap((machine) => machine?.process.memory() ?? []),
    inFlight: () => owner()?.inFlight ?? 0,
    isServing: () => owner()?.isPaused === false && owner()?.cuts.has('store') === false,
    isContested: () => serving().some((machine) => machine !== owner()),
    submit,
    waiting,
    release,
    kill: () => {
      seededRandom.pick(machines).process.end()
      return afterStep()
    },
    takeOutput: () => {
      const output = { instructions, events }
      instructions = []
      events = []
      return output
    },
    setRail: (up) => (railUp = up),
    openEvents: () => network.server.store.openEvents(0, EVERY_EVENT),
    marks: () => {
      const onDisk = network.progress()
      const { booksId } = onDisk
      const [highest] = machines
        .map(({ highWater }) => highWater)
        .sort((one, other) => other.epoch - one.epoch || other.lastBatch - one.lastBatch)
      return {
        books: network.server.store.marks,
        onDisk,
        highWater: { booksId, ...highest! },
      }
    },
    disturb: async () => {
      const possible = repairs()
      const isRepair = possible.length > 1 || (possible.length > 0 && !seededRandom.once(3))
      const act = isRepair ? seededRandom.pick(possible) : actOf[seededRandom.pick(options.acts)]
      const name = await act()
      await afterStep()
      return name
    },
    settle: async () => {
      for (const machine of machines) {
        machine.cuts.clear()
        machine.skewMs = 0
        wake(machine)
      }
      network.endFormer()
      await until(() => owner() !== undefined)
      for (const other of machines.filter((machine) => machine !== owner())) {
        machines.splice(machines.indexOf(other), 1)
        other.process.end()
      }
    },
    recovery: {
      isActive: () => isRecovering,
      isRefusing: () => machines.some(({ process }) => process.isInRecovery()),
      openOrphans: () =>
        acceptedBefore === null ? 0 : (owner()?.process.memory().orphans.open ?? 1),
      restore: async (replace) => {
        for (const { process } of machines) process.end()
        const { lastBatch } = network.owner
        const isAllRecorded = machines.some(({ highWater }) => highWater.lastBatch === lastBatch)
        await network.restore(replace)
        isRecoveryRequested = true
        acceptedBefore = network.owner.acceptedEpoch
        const isBehindMarks = isBehind(machines) || !isAllRecorded
        for (const machine of machines) {
          machine.cuts.clear()
          machine.isPaused = false
        }
        await afterStep()
        await until(() => owner() !== undefined)
        hasTakenOver = false
        return isBehindMarks
      },
      released: () => Promise.resolve(null),
      inquire: ({ up, send }) => {
        const memory = owner()?.process.memory()
        const rails = { names: [SANDBOX_RAIL], up, send }
        if (memory !== undefined) createOrphanInquiries({ memory, rails }).inquire()
      },
    },
    restart: async () => {
      machines[0]!.process.end()
      await afterStep()
      await until(() => owner() !== undefined)
      return machines[0]!.process.memory()
    },
  }
}

type OnReply = Work['reply']

const epochOf = ({ process }: Machine): number => process.ownership().epoch
