/**
 * The ownership of a schema by this process, from its take-over until its release: the numbers of
 * its commits, its heartbeats, and whether it still owns the schema.
 *
 * Does not own: connections and tables (postgres/owned_schema), when a candidate takes over
 * (postgres/lease_watch).
 *
 * - A commit that fails has an unknown outcome. So has a write that the server reports as done with
 *   a warning: a cancelled wait for the standby means that only one server has it. Heartbeats and
 *   take-overs count.
 * - A server that does not answer for ANSWER_WITHIN_MS ends the ownership, and so does a read
 *   without an answer for longer than its own bound.
 * - Reads need no flush, but the server that answers them may be a former primary, where no commit
 *   of a later owner arrives. So they also need a confirmed write that was sent less than
 *   READS_WITHIN_MS ago. Each server that can be promoted has that write, and no process takes over
 *   before LEASE_TIMEOUT_MS have passed without a further one; the margin is for clocks that differ
 *   in speed. Without such a write, a heartbeat decides: its confirmation proves the ownership.
 */
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Bindable } from '../database.js'
import { Deposed } from '../store.js'
import { createAnswers, NoAnswer, type Answers } from './answers.js'
import { FENCED } from './commit_function.js'
import {
  beat,
  checkOwnership,
  DEPOSED,
  HEARTBEAT_MS,
  LEASE_TIMEOUT_MS,
  raiseEpoch,
  release,
  takeOver,
  type Ownership,
  type SeenOwner,
} from './lease.js'
import { acquireLease, type LeaseOptions } from './lease_wait.js'

export interface Owned {
  /** As of the last commit. */
  ownership(): Ownership
  /**
   * Calls the commit function with the values for the next batch.
   *
   * @throws Deposed when another process owns the schema
   */
  commit(valuesOf: (epoch: number, batch: number) => readonly Bindable[]): Promise<void>
  /** Resolves when this process still owned the schema after the call. @throws Deposed */
  barrier(): Promise<void>
  /** Starts an epoch higher than `above` and the current one. @throws Deposed */
  raiseEpoch(above: number): Promise<void>
  /** Called once, when the server fails or another process owns the schema. */
  onFailure(handler: (error: Error) => void): void
}

export interface OwnedConnection extends Owned {
  /** Ends the ownership because of this error. */
  fail(error: Error): void
  release(): Promise<void>
}

export interface OwnershipOptions extends LeaseOptions {
  /** Calls the commit function. */
  readonly statement: string
  /** Takes over from this owner. Absent means that it waits as a candidate. */
  readonly from?: SeenOwner
  /** Reads whose bounds end the ownership too. */
  readonly reads?: readonly Answers[]
}

/** Another candidate was first. */
export class TakenByAnother extends Error {
  override name = 'TakenByAnother'
}

/** SQLSTATE of warnings; a write succeeds without one. */
const WARNING = '01000'
export const READS_WITHIN_MS = LEASE_TIMEOUT_MS - HEARTBEAT_MS

/** Takes over, waiting as a candidate if need be, and sends heartbeats. @throws TakenByAnother */
export async function takeOwnership(options: OwnershipOptions): Promise<OwnedConnection> {
  const { connection, statement, elapsed, pause } = options
  const writer = createAnswers(elapsed, ANSWER_WITHIN_MS)
  const watched = [writer, ...(options.reads ?? [])]
  let writesUnanswered = 0
  let confirmedAt = -Infinity
  let isReleased = false
  let fault: Error | null = null
  let report: (error: Error) => void = () => undefined

  const fail = (error: Error): void => {
    if (fault !== null) return
    fault = error
    report(error)
  }
  connection.onNotice((code, message) => {
    if (code === WARNING) fail(new Error(`the server committed with a warning: ${message}`))
  })
  const taken = await (options.from === undefined
    ? acquireLease(options)
    : takeOver(options, options.from))
  if (fault !== null) throw fault as Error
  if (taken === undefined) throw new TakenByAnother('another process has taken over')
  crashPoint('take_over.taken')
  let owned = taken

  const ask = async <Answer>(query: () => Promise<Answer>): Promise<Answer> => {
    const answer = await writer.ask(query)
    if (fault !== null) throw fault
    return answer
  }
  const write = async <Answer>(query: () => Promise<Answer>): Promise<Answer> => {
    const sentAt = elapsed()
    writesUnanswered += 1
    const answer = await ask(query).finally(() => (writesUnanswered -= 1))
    confirmedAt = sentAt
    return answer
  }
  const heartbeat = (): Promise<void> => write(() => beat(connection, owned.epoch))

  const watch = async (): Promise<void> => {
    for (;;) {
      await pause(HEARTBEAT_MS)
      if (isReleased || fault !== null) return
      const late = watched.find((each) => each.overdueSince() !== undefined)
      if (late !== undefined) {
        const since = late.overdueSince()
        await pause(0) // the answer may have arrived while this process did not run
        if (late.overdueSince() === since) fail(new NoAnswer(late.withinMs))
      } else if (writesUnanswered === 0 && elapsed() - confirmedAt >= HEARTBEAT_MS) {
        heartbeat().catch((error: unknown) => fail(error as Error))
      }
    }
  }
  void watch()

  return {
    ownership: () => owned,
    commit: async (valuesOf) => {
      const next = owned.lastBatch + 1
      try {
        await write(() => connection.run(statement, valuesOf(owned.epoch, next)))
      } catch (error) {
        throw (error as { code?: string }).code === FENCED ? new Deposed(DEPOSED) : error
      }
      owned = { ...owned, lastBatch: next }
    },
    barrier: async () => {
      await ask(() => checkOwnership(connection, owned.epoch))
      if (elapsed() - confirmedAt >= READS_WITHIN_MS) await heartbeat()
    },
    raiseEpoch: async (above) => {
      const epoch = await write(() => raiseEpoch(connection, owned.epoch, above))
      owned = { ...owned, epoch }
    },
    onFailure: (handler) => {
      report = handler
      if (fault !== null) handler(fault)
    },
    fail,
    release: async () => {
      isReleased = true
      crashPoint('move.drained')
      if (fault === null) await release(connection, owned.epoch).catch(() => undefined)
      crashPoint('move.released')
    },
  }
}
