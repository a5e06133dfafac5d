/**
 * Erases users as requested: follows a user's list of payments and erases those that may be.
 *
 * Owns: when, how many at a time. Does not own: which payments must wait (changes/user_erasures),
 * the changes (commands/partners/user_erase).
 *
 * - A commit erases at most LINKS_A_STEP payments and is followed by a pause, because payments use
 *   the same commits.
 * - Each pass begins with the newest payment of the list and leaves alone what is erased, so it can
 *   end anywhere.
 * - Payments that must wait are looked at again every hour.
 * - A row of fingerprints changes here only, one step after the other.
 */
import { intentContextIn, type IntentState } from '../../../actors/intent/context.js'
import { FINGERPRINT_BYTES } from '../../auth/fingerprint.js'
import { HOUR, SECOND, systemPause, type Clock } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import { createPeriodicWork } from '../../base/periodic_work.js'
import type { Lists } from '../../store/lists.js'
import type { UserFingerprints } from '../../store/retention.js'
import type { UserIntent } from '../../store/user_intent_rows.js'
import { packedFingerprints } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'
import { mustWait, type UserErasure } from '../changes/user_erasures.js'
import { endErasurePass, eraseUserStep } from '../commands/partners/user_erase.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

export interface UserErasures {
  start(): void
  stop(): Promise<void>
  /** Erases what may be erased now. */
  run(): Promise<void>
}

export interface UserErasuresDependencies {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'intentsOfUser' | 'userFingerprints'>
  readonly memory: Pick<Memory, 'userErasures' | 'fingerprintOfUser'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
  readonly linksAStep?: number
  readonly pauseMs?: number
}

const LINKS_A_STEP = 50
const PAUSE_MS = 100
const LOOK_EVERY_MS = SECOND

/** An intent of the list and its number. */
interface Link {
  readonly number: number
  readonly intent: UserIntent
}

export function createUserErasures(dependencies: UserErasuresDependencies): UserErasures {
  const { clock, lists, memory, pipeline, log } = dependencies
  const { linksAStep = LINKS_A_STEP, pauseMs = PAUSE_MS } = dependencies
  /** When a pass that left payments waiting has ended, by the id of the request. */
  const waitingSince = new Map<string, number>()
  const stopped = new AbortController()

  const run = async (): Promise<void> => {
    for (const id of [...memory.userErasures.keys()]) await runPass(id)
  }

  const isDue = (id: string): boolean =>
    clock.now() - (waitingSince.get(id) ?? Number.NEGATIVE_INFINITY) >= HOUR

  const runDue = async (): Promise<void> => {
    for (const id of [...memory.userErasures.keys()].filter(isDue)) await runPass(id)
  }

  const runPass = async (id: string): Promise<void> => {
    const erasure = memory.userErasures.get(id)
    if (erasure === undefined) return
    let waiting = 0
    for (let number = erasure.last_intent; number > 0 && !stopped.signal.aborted;) {
      const page = await lists.intentsOfUser(number, linksAStep)
      const links = numbered(page, number)
      const left = links.filter(({ intent }) => isOfUser(erasure, intent))
      const ready = left.filter(({ intent }) => isReady(intent))
      const isErased = ready.length === 0 || (await erase(erasure, ready))
      waiting += left.length - (isErased ? ready.length : 0)
      number = page.at(-1)?.before ?? 0
    }
    if (stopped.signal.aborted) return
    const isRecorded = await commit(endErasurePass(id, waiting))
    const payments = memory.userErasures.get(id)?.payments ?? erasure.payments
    if (waiting > 0 || !isRecorded) waitingSince.set(id, clock.now())
    else {
      waitingSince.delete(id)
      log.info({ entity_id: id, tenant: erasure.tenant, payments }, 'a user is erased')
    }
  }

  const isReady = ({ state, context: stored }: UserIntent): boolean => {
    const context = intentContextIn(stored)
    return context !== null && !mustWait(state as IntentState, context, clock.now())
  }

  const erase = async (erasure: UserErasure, links: readonly Link[]): Promise<boolean> => {
    const userFingerprints = await replacedFingerprints(erasure, links)
    const intents = links.map(({ intent }) => intent.id)
    const isDone = await commit(eraseUserStep(erasure.id, { intents, userFingerprints }))
    await systemPause(pauseMs, stopped.signal)
    return isDone
  }

  /** The rows that have these links, with the fingerprint of the erased user in their places. */
  const replacedFingerprints = async (
    { tenant, id }: UserErasure,
    links: readonly Link[],
  ): Promise<readonly UserFingerprints[]> => {
    const fingerprint = packedFingerprints([memory.fingerprintOfUser(tenant as TenantId, id)])
    const rows = new Map<number, UserFingerprints>()
    for (const { number } of links) {
      const read = await lists.userFingerprints(number)
      if (read === undefined) continue
      const row = rows.get(read.first) ?? { first: read.first, prints: Buffer.from(read.prints) }
      rows.set(read.first, row)
      fingerprint.copy(row.prints, (number - row.first) * FINGERPRINT_BYTES)
    }
    return [...rows.values()]
  }

  const commit = (command: Command): Promise<boolean> =>
    new Promise((resolve) => {
      pipeline.submit(internalWork(command, 'service', ({ ok }) => resolve(ok)))
    })

  const looks = createPeriodicWork(LOOK_EVERY_MS, runDue, (error) =>
    log.error({ error }, 'users cannot be erased'),
  )

  return {
    start: looks.start,
    stop: () => {
      stopped.abort()
      return looks.stop()
    },
    run,
  }
}

/** The newest intent has the number `from`; each of them names the number of the next one. */
const numbered = (page: readonly UserIntent[], from: number): readonly Link[] =>
  page.map((intent, at) => ({ intent, number: at === 0 ? from : page[at - 1]!.before }))

/** A corrupt intent counts as the user's: it cannot be erased, so the erasure does not end. */
const isOfUser = ({ tenant, user_id: userId }: UserErasure, intent: UserIntent): boolean => {
  if (intent.id === '') return false
  const context = intentContextIn(intent.context)
  return context === null || (context.tenant === tenant && context.userId === userId)
}
