/**
 * The checks after the faults: every acknowledged payment exists once, with its expected outcome
 * for the partner, at its webhook receiver, in the books and at the rail, and the audit is clean.
 * Payments of other partners are those of the audit and the rail alone.
 */
import { systemPause } from '../../src/base/clock.js'
import { rawBooks } from '../support/books.js'
import { DEMO } from '../support/world.js'
import { auditOf } from '../support/audit.js'
import { eventPrefixOf, PAID, pathOf } from '../support/lifecycle.js'
import type { Partner } from '../support/partner.js'
import { patience, type Patience } from '../support/patience.js'
import { retryUntilFinal } from '../support/payments.js'
import { instructionsAt } from '../support/rail_journal.js'
import type { TestReceiver } from '../support/receiver.js'
import type { Payers, Payment } from './payers.js'

export interface FinalChecks {
  /** Failures, one per line. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly events: number
  readonly executions: number
  readonly audit: string
  readonly clean: boolean
}

/** With what the raced calls have shown. */
export interface RacedChecks extends FinalChecks {
  readonly races: string
  /** Histories that no sequential one explains, one per line. */
  readonly contradictions: readonly string[]
}

/** The third status inquiry is due a minute after the first. */
const ENDED_WITHIN_MS = 150_000
const POLL_EVERY_MS = 250
/** A payment is read so often: some wait for the third inquiry. */
const READ_AGAIN_AFTER_MS = 1_000
const FAILURES_SHOWN = 20

export async function runFinalChecks(
  dataDir: string,
  partner: Partner,
  receiver: TestReceiver,
  { payments, unanswered }: Payers,
): Promise<FinalChecks> {
  const deadline = patience(ENDED_WITHIN_MS)
  const open = await openPaymentsOf(partner, payments, deadline)
  const reserved = await reservedOf(partner, deadline)
  const books = await rawBooks(dataDir)
  const events = await books.all<{ id: string; what: string }>(
    `SELECT id, entity || ' ' || type AS what FROM events
     WHERE type <> 'payment_intent.authorized' AND tenant = ?`,
    [DEMO],
  )
  const undelivered = await undeliveredOf(events, () => receiver, deadline)
  const instructions = await instructionsAt<{ id: string; executions: number }>(
    dataDir,
    'SELECT id, executions FROM instructions',
  )
  const created = await books.all<{ id: string; tenant: string }>(
    `SELECT id, tenant FROM payouts
     UNION ALL SELECT id, tenant FROM intents WHERE confirmed_at IS NOT NULL`,
  )
  await books.close()

  const known = new Set(payments.map(({ id }) => id))
  const unknown = created
    .filter(({ id, tenant }) => tenant === DEMO && !known.has(id))
    .map(({ id }) => `${id} of no client`)
  const inBooks = new Set(created.map(({ id }) => id))
  const told = new Set(events.map(({ what }) => what))
  const executionsOf = new Map(instructions.map(({ id, executions }) => [id, executions]))
  const isPaid = ({ id }: Payment): boolean => (executionsOf.get(id) ?? 0) > 0
  const isToBePaid = ({ finalStatus }: Payment): boolean => PAID.includes(finalStatus)
  const { clean, report } = await auditOf(dataDir)
  return {
    lost: [
      ...[...open, ...reserved, ...undelivered],
      ...payments
        .filter((each) => !told.has(finalEventOf(each)))
        .map((each) => `${each.id} has no event ${finalEventOf(each)}`),
      ...payments
        .filter((each) => isToBePaid(each) && !isPaid(each))
        .map(({ id }) => `${id} is not paid`),
    ],
    doubled: [
      ...repeated(payments.map(({ id }) => id)),
      ...repeated(events.map(({ what }) => what)),
      ...instructions
        .filter(({ executions }) => executions > 1)
        .map(({ id }) => `${id} paid again`),
      ...instructions.filter(({ id }) => !inBooks.has(id)).map(({ id }) => `${id} has no payment`),
      ...payments
        .filter((each) => !isToBePaid(each) && isPaid(each))
        .map(({ id }) => `${id} failed and is paid`),
      ...(unknown.length > unanswered.length ? unknown : []),
    ],
    events: events.length,
    executions: instructions.filter(({ executions }) => executions > 0).length,
    audit: clean ? (report.trim().split('\n').at(-1) ?? '') : report,
    clean,
  }
}

/**
 * Writes what was checked.
 *
 * @returns whether payments were made, none is lost or doubled, and nothing contradicts
 */
export function printChecks(
  { lost, doubled, events, executions, audit, clean, races, contradictions }: RacedChecks,
  { payments, unanswered }: Payers,
  print: (line: string) => void,
): boolean {
  print(`payments: ${payments.length} acknowledged, ${unanswered.length} given up`)
  print(`the rail paid ${executions}; ${events} events were delivered`)
  for (const line of [...lost, ...doubled, ...contradictions].slice(0, FAILURES_SHOWN))
    print(`  ${line}`)
  print(audit)
  print(`${races}: ${contradictions.length} contradictions`)
  print(`${lost.length} lost, ${doubled.length} doubled`)
  return lost.length + doubled.length + contradictions.length === 0 && clean && payments.length > 0
}

const finalEventOf = ({ id, finalStatus }: Payment): string =>
  `${id} ${eventPrefixOf(id)}${finalStatus}`

/** At once; one after the other an hour's payments take another hour. */
const READS_MAX = 16

/** Payments that are not final in time. */
export async function openPaymentsOf(
  partner: Partner,
  payments: readonly Payment[],
  deadline: Patience,
): Promise<string[]> {
  const open: string[] = []
  const left = payments.values()
  const read = async (): Promise<void> => {
    for (const { id, finalStatus } of left) {
      const status = await lastStatusOf(partner, id, finalStatus, deadline)
      if (status !== finalStatus) open.push(`${id} is ${status}, not ${finalStatus}`)
    }
  }
  await Promise.all(Array.from({ length: READS_MAX }, read))
  return open
}

async function lastStatusOf(
  partner: Partner,
  id: string,
  finalStatus: string,
  deadline: Patience,
): Promise<string> {
  for (;;) {
    const { body } = await retryUntilFinal(() => partner.request('GET', pathOf(id)))
    const { status = 'unknown' } = body as { status?: string }
    if (status === finalStatus || deadline.isOver()) return status
    await systemPause(READ_AGAIN_AFTER_MS)
  }
}

export async function undeliveredOf<Event extends { readonly id: string; readonly what: string }>(
  events: readonly Event[],
  receiverOf: (event: Event) => TestReceiver | undefined,
  deadline: Patience,
): Promise<string[]> {
  for (;;) {
    const undelivered = events.filter((event) => receiverOf(event)?.events.has(event.id) !== true)
    if (undelivered.length === 0 || deadline.isOver()) {
      return undelivered.map(({ what }) => `${what} was not delivered`)
    }
    await systemPause(POLL_EVERY_MS)
  }
}

/** Balances of the partner that still have a reservation after the deadline. */
export async function reservedOf(partner: Partner, deadline: Patience): Promise<string[]> {
  for (;;) {
    const { body } = await retryUntilFinal(() => partner.request('GET', '/v1/balances'))
    const { data } = body as { data: { currency: string; reserved: string }[] }
    const left = data.filter(({ reserved }) => reserved !== '0')
    if (left.length === 0 || deadline.isOver())
      return left.map(({ currency, reserved }) => `${reserved} ${currency} are still reserved`)
    await systemPause(POLL_EVERY_MS)
  }
}

export function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.has(name) || !seen.add(name)).map((name) => `${name} twice`)
}
