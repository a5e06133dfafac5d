/**
 * The checks after the faults: everything acknowledged is there exactly once.
 *
 * Owns: counting lost and doubled payments, from the partner's side and in the databases. Does not
 * own: the audit, which runs afterwards.
 */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/database.js'
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
const LOOK_EVERY_MS = 250

export async function reckon(
  dataDir: string,
  partner: Partner,
  receiver: TestReceiver,
  payers: Payers,
): Promise<FinalChecks> {
  const { payments } = payers
  const deadline = patience(ENDED_WITHIN_MS)
  const unended = await unendedOf(partner, payments, deadline)
  const books = await openDatabase(join(dataDir, FILES.processorDatabase), { readOnly: true })
  const rail = await openDatabase(join(dataDir, FILES.railDatabase), { readOnly: true })
  const events = await books.all<{ id: string; what: string }>(
    `SELECT id, entity || ' ' || type AS what FROM events
     WHERE type <> 'payment_intent.authorized'`,
  )
  const untold = await untoldOf(receiver, events, deadline)
  const executed = await rail.all<{ id: string; executions: number }>(
    'SELECT id, executions FROM instructions WHERE executions > 0',
  )
  const made = await books.all<{ id: string }>(
    'SELECT id FROM payouts UNION ALL SELECT id FROM intents WHERE confirmed_at IS NOT NULL',
  )
  await rail.close()
  await books.close()

  const known = new Set(payments.map(({ id }) => id))
  const nobodys = made.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} of nobody`)
  const { clean, report } = await auditOf(dataDir)
  return {
    lost: [...unended, ...untold],
    doubled: [
      ...repeated(payments.map(({ id }) => id)),
      ...repeated(events.map(({ what }) => what)),
      ...executed.filter(({ executions }) => executions > 1).map(({ id }) => `${id} paid again`),
      ...(nobodys.length > payers.gaveUp() ? nobodys : []),
    ],
    events: events.length,
    executions: executed.length,
    audit: clean ? (report.trim().split('\n').at(-1) ?? '') : report,
    clean,
  }
}

/** Payments that are not final in time. */
async function unendedOf(
  partner: Partner,
  payments: readonly Payment[],
  deadline: Patience,
): Promise<string[]> {
  const unended: string[] = []
  for (const { id, ends } of payments) {
    const room = id.startsWith('pi_') ? 'payment_intents' : 'payouts'
    for (;;) {
      const { body } = await retryUntilFinal(() => partner.request('GET', `/v1/${room}/${id}`))
      const { status = 'unknown' } = body as { status?: string }
      if (status === ends) break
      if (deadline.isOver()) {
        unended.push(`${id} is ${status}, not ${ends}`)
        break
      }
      await pause(LOOK_EVERY_MS)
    }
  }
  return unended
}

async function untoldOf(
  receiver: TestReceiver,
  events: readonly { readonly id: string; readonly what: string }[],
  deadline: Patience,
): Promise<string[]> {
  for (;;) {
    const untold = events.filter(({ id }) => !receiver.events.has(id))
    if (untold.length === 0 || deadline.isOver()) {
      return untold.map(({ what }) => `${what} was not delivered`)
    }
    await pause(LOOK_EVERY_MS)
  }
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.has(name) || !seen.add(name)).map((name) => `${name} twice`)
}
