/**
 * The checks after the faults: every acknowledged payment exists once, for the partner and in the
 * databases. The audit runs afterwards.
 */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { rawBooks } from '../support/books.js'
import { auditOf } from '../support/audit.js'
import type { Partner } from '../support/partner.js'
import { patience, type Patience } from '../support/patience.js'
import { retryUntilFinal } from '../support/payments.js'
import type { TestReceiver } from '../support/receiver.js'
import type { Payers, Payment } from './payers.js'
import { pause } from './faults.js'

export interface FinalChecks {
  /** Failures, one per line. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly events: number
  readonly executions: number
  readonly audit: string
  readonly clean: boolean
}

/** The third status inquiry is due a minute after the first. */
const ENDED_WITHIN_MS = 150_000
const POLL_EVERY_MS = 250

export async function runFinalChecks(
  dataDir: string,
  partner: Partner,
  receiver: TestReceiver,
  payers: Payers,
): Promise<FinalChecks> {
  const { payments } = payers
  const deadline = patience(ENDED_WITHIN_MS)
  const open = await openPaymentsOf(partner, payments, deadline)
  const books = await rawBooks(dataDir)
  const rail = await openDatabase(join(dataDir, FILES.railDatabase), { readOnly: true })
  const events = await books.all<{ id: string; what: string }>(
    `SELECT id, entity || ' ' || type AS what FROM events
     WHERE type <> 'payment_intent.authorized'`,
  )
  const undelivered = await undeliveredOf(receiver, events, deadline)
  const executed = await rail.all<{ id: string; executions: number }>(
    'SELECT id, executions FROM instructions WHERE executions > 0',
  )
  const created = await books.all<{ id: string }>(
    'SELECT id FROM payouts UNION ALL SELECT id FROM intents WHERE confirmed_at IS NOT NULL',
  )
  await rail.close()
  await books.close()

  const known = new Set(payments.map(({ id }) => id))
  const unknown = created.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} of no client`)
  const { clean, report } = await auditOf(dataDir)
  return {
    lost: [...open, ...undelivered],
    doubled: [
      ...repeated(payments.map(({ id }) => id)),
      ...repeated(events.map(({ what }) => what)),
      ...executed.filter(({ executions }) => executions > 1).map(({ id }) => `${id} paid again`),
      ...(unknown.length > payers.gaveUp() ? unknown : []),
    ],
    events: events.length,
    executions: executed.length,
    audit: clean ? (report.trim().split('\n').at(-1) ?? '') : report,
    clean,
  }
}

/** Payments that are not final in time. */
export async function openPaymentsOf(
  partner: Partner,
  payments: readonly Payment[],
  deadline: Patience,
): Promise<string[]> {
  const open: string[] = []
  for (const { id, finalStatus } of payments) {
    const collection = id.startsWith('pi_') ? 'payment_intents' : 'payouts'
    for (;;) {
      const { body } = await retryUntilFinal(() =>
        partner.request('GET', `/v1/${collection}/${id}`),
      )
      const { status = 'unknown' } = body as { status?: string }
      if (status === finalStatus) break
      if (deadline.isOver()) {
        open.push(`${id} is ${status}, not ${finalStatus}`)
        break
      }
      await pause(POLL_EVERY_MS)
    }
  }
  return open
}

export async function undeliveredOf(
  receiver: TestReceiver,
  events: readonly { readonly id: string; readonly what: string }[],
  deadline: Patience,
): Promise<string[]> {
  for (;;) {
    const undelivered = events.filter(({ id }) => !receiver.events.has(id))
    if (undelivered.length === 0 || deadline.isOver()) {
      return undelivered.map(({ what }) => `${what} was not delivered`)
    }
    await pause(POLL_EVERY_MS)
  }
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.has(name) || !seen.add(name)).map((name) => `${name} twice`)
}
