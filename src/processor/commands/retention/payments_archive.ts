/**
 * Removes ended payments that an archive has.
 *
 * - The caller proves with a digest that the archive has the payment as it is now; one that has
 *   changed since, or is needed again, stays.
 * - The books keep the digest: the audit finds a row of the archive that was changed.
 * - The limit counters of an intent go with it: they are of a month that has ended, and would name
 *   its payer in the books.
 * - All payments of these books go to one archive. Without payments the command names it, unless
 *   they have one: the archive is known before it has any of them.
 * - The action log has an entry for each operator, reason and hour, not for each page.
 */
import { storedContext } from '../../../../actors/stored_context.js'
import { HOUR } from '../../../base/clock.js'
import { instantOf, isIdOf } from '../../../base/ids.js'
import { digestOfPayment } from '../../../base/payment_digest.js'
import type { LiveIntent, LivePayout } from '../../cache/memory.js'
import {
  ARCHIVED_AFTER_MS,
  ARCHIVED_AT_ONCE_MAX,
  isEndedIntent,
  isEndedPayout,
} from '../../changes/ended_payments.js'
import { countedUsage, takeUsage } from '../../changes/limit_usage.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'

const ARCHIVE_ID = /^[0-9a-f]{32}$/
const PATH_MAX = 1_000

export interface Archive {
  readonly id: string
  /** On the machine of the operator. */
  readonly path: string
}

export interface ArchivedPayment {
  readonly id: string
  readonly digest: string
}

export interface RemovedPayments {
  readonly removed: number
}

export function archivePayments(
  actor: Actor,
  archive: Archive,
  payments: readonly ArchivedPayment[],
): Command {
  return {
    name: 'archive_payments',
    needs: (needs, memory) => {
      for (const { id } of payments) {
        if (!isIdOf('intent', id)) needs.payout(id)
        else {
          needs.intent(id)
          for (const key of countersOf(memory.intents.get(id))) needs.usage(key)
        }
      }
    },
    decide: (ctx) => {
      const { memory, batch, now } = ctx
      const isValid = ARCHIVE_ID.test(archive.id) && archive.path.length <= PATH_MAX
      if (!isValid || payments.length > ARCHIVED_AT_ONCE_MAX) return refuse('invalid_request')
      const isAnother = memory.archive !== null && memory.archive.id !== archive.id
      if (isAnother && payments.length > 0) return refuse('invalid_request')
      const gone = payments.filter((payment) => isAsArchived(ctx, payment))
      if (gone.length === 0 && (payments.length > 0 || memory.archive !== null)) {
        return answer({ removed: 0 } satisfies RemovedPayments)
      }

      // From here on it must succeed.
      if (memory.archive?.path !== archive.path) {
        memory.archive = { ...archive, created_at: memory.archive?.created_at ?? now }
        batch.stage('archives', archive.id, memory.archive)
      }
      for (const { id, digest } of gone) {
        batch.stage('archivedPayments', id, { id, digest })
        uncount(ctx, memory.intents.get(id))
        const cache = isIdOf('intent', id) ? memory.intents : memory.payouts
        cache.remove(id, batch.number)
      }
      if (gone.length > 0) batch.expire({ payments: gone.map(({ id }) => id) })
      noteArchiving(ctx, actor, archive)
      return answer({ removed: gone.length } satisfies RemovedPayments)
    },
  }
}

/** None of a payment that was never confirmed. */
function countersOf(live: LiveIntent | null | undefined): readonly string[] {
  const confirmation = live?.context.confirmation
  return confirmation === undefined ? [] : [confirmation.dayKey, confirmation.monthKey]
}

function uncount(ctx: CommandContext, live: LiveIntent | null | undefined): void {
  for (const key of countersOf(live)) takeUsage(ctx, key, countedUsage(live!))
}

function isAsArchived(ctx: CommandContext, { id, digest }: ArchivedPayment): boolean {
  const { memory, now } = ctx
  if (instantOf(id) > now - ARCHIVED_AFTER_MS) return false
  const isIntent = isIdOf('intent', id)
  const live = isIntent ? memory.intents.get(id) : memory.payouts.get(id)
  if (!live || live.isCorrupt === true) return false
  const isEnded = isIntent
    ? isEndedIntent(memory, live as LiveIntent)
    : isEndedPayout(live as LivePayout)
  const stored = JSON.stringify(storedContext(live.context))
  return isEnded && digestOfPayment(id, live.state, stored) === digest
}

function noteArchiving(ctx: CommandContext, actor: Actor, archive: Archive): void {
  const { memory, now } = ctx
  const last = memory.archivingNoted
  const isSame = last?.name === actor.name && last.reason === actor.reason
  if (isSame && now - last.at < HOUR) return
  memory.archivingNoted = { name: actor.name, reason: actor.reason, at: now }
  logAction(ctx, actor, 'archive_payments', archive.id, archive.path)
}
