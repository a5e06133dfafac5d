/**
 * Works on the large moves of partners out of this shard: sets their rows apart while they work,
 * requests the move when little is left, and puts the rows in place afterwards.
 *
 * Does not own: the steps (store/cluster/partner_copy, store/cluster/partner_settling), how much
 * each takes (cluster/step_scale), the move (cluster/partner_move).
 *
 * - Only the owner of the shard that is left works, a step at a time, for half of the time. The
 *   next owner goes on from the last step.
 * - A move that is given up is requested again some times; then what is set apart goes back.
 */
import { SECOND, type Pause } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { createPeriodicWork, type PeriodicWork } from '../../base/periodic_work.js'
import {
  copyOf,
  copyStep,
  makeReady,
  Misfit,
  restOf,
  saveCopy,
  tableOf,
  vacuum,
  type PartnerCopy,
} from '../../store/cluster/partner_copy.js'
import { setApart } from '../../store/cluster/partner_copy_tables.js'
import { settleStep, undoCopy, undoStep } from '../../store/cluster/partner_settling.js'
import type { PartnerMoves } from '../../store/cluster/partner_moves.js'
import type { MovedKey } from '../../store/cluster/partner_transfer.js'
import type { Connection } from '../../store/postgres/connection.js'
import { createStepScale } from './step_scale.js'

const LOOK_EVERY_MS = SECOND
const PAUSE_MIN_MS = 2
/** Fewer make the move no shorter. */
const REST_WANTED = 300
/** Payments that stay open do not end in passes: each reads and vacuums all tables. */
const REST_SHARE = 0.5
const ATTEMPTS_MAX = 5
const ATTEMPT_EVERY_MS = 3 * SECOND
const PAGE = 10_000
/** PostgreSQL's code for a lock that is not free. */
const NO_LOCK = '55P03'

export interface PartnerCopiesOptions {
  readonly shard: string
  readonly moves: Pick<
    PartnerMoves,
    'partnersSetApart' | 'requestPartnerMove' | 'pendingPartnerMoves' | 'partnerPlace'
  >
  readonly connect: (purpose: string) => Promise<Connection>
  /** Reports of a rail about these payments follow the partner once it has left. */
  readonly willLeave: (partner: string, payments: readonly string[]) => void
  /** These keys are not in the books any more. */
  readonly forget: (keys: readonly MovedKey[]) => void
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: Pause
  readonly log: Logger
}

export function createPartnerCopies(options: PartnerCopiesOptions): PeriodicWork {
  const { shard, moves, connect, willLeave, forget, elapsed, pause, log } = options
  const stopped = new AbortController()
  /** What the last pass over all tables has left, by partner. */
  const rests = new Map<string, number>()
  /** Partners whose payments are known to the reports of rails. */
  const announced = new Set<string>()
  const scale = createStepScale()

  /** @returns whether there is more to do without waiting for others */
  const step = async (rows: Connection, copy: PartnerCopy): Promise<boolean> => {
    if (copy.phase === 'ready') return request(rows, copy)
    const more = await measured(copy, (size) => {
      if (copy.phase === 'settling') return settleStep(rows, copy, forget, size)
      if (copy.phase === 'undoing') return undoStep(rows, copy, size)
      return copyStep(rows, copy, size)
    })
    if (more) return true
    if (copy.phase !== 'copying') return ended(copy)
    const { partner, from, to, payments } = copy
    await vacuum(rows, copy)
    const rest = await restOf(rows, copy)
    const before = rests.get(partner)
    rests.set(partner, rest)
    log.info({ partner, from, to, payments, rest }, 'payments are set apart')
    // The first pass is long: what has come meanwhile is read in another one.
    const isEnough = rest <= REST_WANTED || rest > (before ?? rest) * REST_SHARE
    const passed = await copyOf(rows, partner)
    if (passed?.phase === 'copying' && before !== undefined && isEnough)
      await makeReady(rows, passed)
    return true
  }

  const request = async (rows: Connection, copy: PartnerCopy): Promise<boolean> => {
    const { partner, from, to, actor, reason, attempts } = copy
    if ((await moves.pendingPartnerMoves(shard)).length > 0) return false
    if (attempts >= ATTEMPTS_MAX) {
      const cause = (await moves.partnerPlace(partner))?.cause ?? 'it did not end in time'
      log.error({ partner, from, to, cause }, 'move is given up')
      await undoCopy(rows, copy, cause)
      return true
    }
    if (attempts > 0) await pause(ATTEMPT_EVERY_MS, stopped.signal)
    if (!announced.has(partner)) await announce(rows, copy)
    await saveCopy(rows, copy, { attempts: attempts + 1 })
    await moves.requestPartnerMove({ partner, from, to }, { actor, reason })
    return false
  }

  const announce = async (rows: Connection, copy: PartnerCopy): Promise<void> => {
    for (let after = ''; ;) {
      const page = await rows.all<{ id: string }>(
        `SELECT id FROM ${setApart(copy, 'moved_payments')} WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
        [after],
      )
      const ids = page.map(({ id }) => id)
      willLeave(copy.partner, ids)
      if (ids.length < PAGE) break
      after = ids.at(-1)!
    }
    announced.add(copy.partner)
  }

  const measured = async <Result>(
    copy: PartnerCopy,
    run: (size: number) => Promise<Result>,
  ): Promise<Result> => {
    const size = scale.of(tableOf(copy))
    const since = elapsed()
    const result = await run(size)
    scale.took(elapsed() - since)
    return result
  }

  const ended = ({ partner, from, to, phase }: PartnerCopy): boolean => {
    if (phase === 'settling')
      log.info({ partner, from, to }, 'rows that were set apart are in place')
    else log.info({ partner, from, to }, 'rows that were set apart are back in their shard')
    rests.delete(partner)
    announced.delete(partner)
    return false
  }

  const workOn = async (rows: Connection, partner: string): Promise<void> => {
    while (!stopped.signal.aborted) {
      const copy = await copyOf(rows, partner)
      if (copy?.from !== shard) return
      const since = elapsed()
      try {
        if (!(await step(rows, copy))) return
      } catch (error) {
        if (error instanceof Misfit) await undoCopy(rows, copy, error.message)
        else if ((error as { code?: string }).code !== NO_LOCK) throw error
      }
      await pause(Math.max(PAUSE_MIN_MS, elapsed() - since), stopped.signal)
    }
  }

  const look = async (): Promise<void> => {
    const partners = await moves.partnersSetApart(shard)
    if (partners.length === 0) return
    const rows = await connect('partner copy')
    const end = (): void => void rows.close()
    stopped.signal.addEventListener('abort', end) // A vacuum may be long.
    try {
      for (const partner of partners) await workOn(rows, partner)
    } catch (error) {
      if (!stopped.signal.aborted) throw error
    } finally {
      stopped.signal.removeEventListener('abort', end)
      await rows.close()
    }
  }

  const looks = createPeriodicWork(
    LOOK_EVERY_MS,
    look,
    (error) => log.error({ error }, 'setting payments apart failed'),
    pause,
  )
  return {
    start: looks.start,
    stop: () => {
      stopped.abort()
      return looks.stop()
    },
  }
}
