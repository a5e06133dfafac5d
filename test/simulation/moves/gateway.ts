/**
 * A gateway with its partners' clients: the product's routes and held commands over simulated
 * streams, and the history of its calls.
 *
 * Does not own: the check of the history (histories).
 *
 * - A message is a step: it can be late, and messages of one direction stay in order.
 * - A call that arrived at a processor is never sent again, unless it was answered `not_here`.
 */
import { Metadata } from '@grpc/grpc-js'
import type { Command } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { ProgressMark } from '../../../protos/types/causeway/internal/v1/ProgressMark.js'
import { createHeldCommands, type Submit } from '../../../gateway/upstream/held_commands.js'
import type { StreamClient } from '../../../gateway/upstream/processor_client.js'
import type { PendingCommand } from '../../../gateway/upstream/pending_command.js'
import { createProcessors, type ProcessorPorts } from '../../../gateway/upstream/processors.js'
import type { Clock } from '../../../src/base/clock.js'
import { CLEARTEXT } from '../../../src/grpc/tls.js'
import { SILENT_LOG as log } from '../../support/logs.js'
import type { Scheduler } from '../scheduler.js'
import type { MoveFault } from './faults.js'
import type { Entry } from './histories.js'
import type { ClusterProcess } from './processor.js'
import type { KeyedCall, OpenStreams, Reply } from './streams.js'

export interface SimulatedGateway {
  readonly history: readonly Entry[]
  call(call: KeyedCall): void
  /** It forgets the marks that it has. */
  restart(): void
  close(): void
}

export interface SimulatedGatewayOptions {
  readonly name: string
  readonly scheduler: Scheduler
  readonly clock: Clock
  /** Grows with each call and answer of any gateway. */
  readonly tick: () => number
  /** By address. */
  readonly machines: ReadonlyMap<string, SimulatedMachine>
  readonly fault: MoveFault | undefined
  /** It shows the marks of replies: the books can be set back. */
  readonly showsMarks: boolean
  readonly onCount: (what: string) => void
  readonly onViolation: (violation: Error) => void
}

/** A machine as gateways see it. */
export interface SimulatedMachine {
  process(): ClusterProcess
  /** Messages arrive at it and leave it. */
  isReachable(): boolean
}

interface Sent {
  readonly call: KeyedCall
  /** Whether a processor has received it and did not answer `not_here`. */
  hasArrived: boolean
}

const BUDGET_MS = 10_000
const RETRY_MS = 100
const HOLD_WITHIN_MS = 4_000

export function createSimulatedGateway(options: SimulatedGatewayOptions): SimulatedGateway {
  const { name, scheduler, clock, tick, machines, fault, showsMarks } = options
  const { onCount, onViolation } = options
  let known: () => readonly ProgressMark[] = () => []
  let forgotten: readonly ProgressMark[] = []
  const calls = new WeakMap<Command, Sent>()
  const history: Entry[] = []

  const after = (ms: number, call: () => void): (() => void) => {
    const due = clock.now() + ms
    let isCancelled = false
    const run = (): Promise<void> => {
      if (!isCancelled) call()
      return Promise.resolve()
    }
    void scheduler.inOrder('look', run, () => isCancelled || clock.now() >= due)
    return () => (isCancelled = true)
  }

  /** Messages in order, while the machine is reachable. */
  const channelTo = (machine: SimulatedMachine): ((deliver: () => void) => void) => {
    const waiting: (() => void)[] = []
    const next = (): void => {
      const run = (): Promise<void> => {
        waiting.shift()?.()
        if (waiting.length > 0) next()
        return Promise.resolve()
      }
      void scheduler.inOrder('answer', run, machine.isReachable)
    }
    return (deliver) => {
      waiting.push(deliver)
      if (waiting.length === 1) next()
    }
  }

  /** Opens a stream, and again whenever it has ended. @param open false if it cannot be opened */
  const keepOpen = (
    machine: SimulatedMachine,
    open: (
      process: ClusterProcess,
      toGateway: (deliver: () => void) => void,
      again: () => void,
    ) => boolean,
  ): void => {
    const connect = (): Promise<void> => {
      const again = (): unknown => after(RETRY_MS, soon)
      if (!open(machine.process(), channelTo(machine), again)) again()
      return Promise.resolve()
    }
    const soon = (): void => void scheduler.inOrder('answer', connect, machine.isReachable)
    soon()
  }

  const openDirectory: ProcessorPorts['openDirectory'] = ({ address }, listener) => {
    keepOpen(machines.get(address)!, (process, toGateway, again) => {
      let isFirst = true
      return process.watch({
        announced: (update) =>
          toGateway(() => {
            if (isFirst) listener.opened()
            isFirst = false
            listener.updated(update)
          }),
        ended: () =>
          toGateway(() => {
            listener.broke('ended')
            again()
          }),
      })
    })
    return { close: () => undefined }
  }

  const openClient: ProcessorPorts['openClient'] = ({ address, marks, onOpen }): StreamClient => {
    known = () => marks!.all()
    const machine = machines.get(address)!
    const inFlight = new Map<number, readonly [Sent, PendingCommand]>()
    const held = createHeldCommands(clock, log)
    let toProcessor = channelTo(machine)
    let streams: OpenStreams | undefined
    let isHolding = false
    let cancelHolding = (): unknown => undefined
    let lastTicket = 0

    const submit: Submit = (command, pending, bodyBytes = 0) => {
      if (isHolding) return held.add(command, pending, bodyBytes)
      if (streams === undefined) return pending.settle('configuration_error', '', false)
      const sent = calls.get(command)!
      const ticket = (lastTicket += 1)
      inFlight.set(ticket, [sent, pending])
      const to = streams
      toProcessor(() => {
        if (!inFlight.has(ticket)) return
        if (sent.hasArrived) onViolation(new Error('a call that arrived is never sent again'))
        sent.hasArrived = true
        to.submit(ticket, sent.call)
      })
    }
    const endHolding = (): void => {
      cancelHolding()
      isHolding = false
    }
    const drain = (): void => {
      const ending = streams
      if (ending === undefined) return
      toProcessor(() => ending.endCommands())
      streams = undefined
      isHolding = true
      cancelHolding = after(HOLD_WITHIN_MS, () => {
        endHolding()
        held.refuse()
      })
    }
    const settle = (ticket: number, { code, entity, state, mark, era }: Reply): void => {
      if (mark !== undefined) marks!.received(mark)
      const [sent, pending] = inFlight.get(ticket) ?? []
      if (sent === undefined || !inFlight.delete(ticket)) return
      if (code === 'not_here') {
        onCount('not_here')
        sent.hasArrived = false
      }
      pending?.settle(code, JSON.stringify([entity, state, era]), false)
    }
    const breakOff = (): void => {
      streams = undefined
      const unanswered = [...inFlight.values()]
      inFlight.clear()
      const code = fault?.repeats === true ? 'not_here' : 'configuration_error'
      for (const [, pending] of unanswered) pending.settle(code, '', false)
    }
    keepOpen(machine, (process, toGateway, again) => {
      const opened = process.open({
        draining: () => toGateway(drain),
        replied: (ticket, reply) => toGateway(() => settle(ticket, reply)),
        ended: () =>
          toGateway(() => {
            breakOff()
            again()
          }),
      })
      if (opened === undefined) return false
      streams = opened
      toProcessor = channelTo(machine)
      if (showsMarks) {
        const shown = known().filter((mark) => !forgotten.includes(mark))
        toProcessor(() => opened.show(shown))
      }
      endHolding()
      held.releaseTo(submit)
      onOpen?.()
      return true
    })
    return {
      opened: Promise.resolve(),
      submit,
      get open() {
        return streams !== undefined
      },
      get inFlight() {
        return inFlight.size + held.size
      },
      releaseHeld: (to) => held.releaseTo(to),
      close: () => undefined,
    }
  }

  const processors = createProcessors({
    ...{ tls: CLEARTEXT, metadata: new Metadata(), clock, log },
    ports: { openClient, openDirectory, after },
  })
  processors.setAddresses([...machines.keys()])

  return {
    history,
    call: (call) => {
      const entry: Entry = {
        ...{ gateway: name, ...call },
        ...{ invoked: tick(), answered: null, outcome: 'unknown' },
        ...{ entity: '', state: 0, era: 0 },
      }
      history.push(entry)
      const settle: PendingCommand['settle'] = (code, body) => {
        entry.answered = tick()
        entry.outcome = code === '' ? 'ok' : code === 'not_found' ? 'not_found' : 'unknown'
        onCount(`answer ${code === '' ? 'ok' : code}`)
        if (entry.outcome === 'unknown') return
        const [entity, state, era] = JSON.parse(body) as [string, number, number]
        Object.assign(entry, { entity, state, era })
      }
      const command: Command = { tenant: `${call.partner}_sandbox`, budget_ms: BUDGET_MS }
      calls.set(command, { call, hasArrived: false })
      processors.client.submit(command, { startedAt: clock.now(), settle })
    },
    restart: () => (forgotten = known()),
    close: () => processors.close(),
  }
}
