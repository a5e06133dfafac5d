/**
 * The outcome of a scenario's entities in a form that is equal in every run: ids, times and tokens
 * are replaced by their types.
 *
 * Owns: reading it from the API, the events, the ledger, the rail's journal and the webhook
 * receiver. Does not own: the expected outcome (scenarios).
 */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { rawBooks } from '../support/books.js'
import { pathOf } from '../support/lifecycle.js'
import type { Partner } from '../support/partner.js'
import { retryUntilFinal } from '../support/payments.js'
import type { TestReceiver } from '../support/receiver.js'

export interface Outcome {
  readonly status: string
  readonly projection: string
  readonly events: readonly { readonly type: string; readonly body: string }[]
  /** Ledger entries: plan, account, amount. */
  readonly entries: readonly string[]
  /** Null means that it was never submitted to the rail. */
  readonly executions: number | null
  /** Types of the events that reached the receiver, each as often as it came. */
  readonly received: readonly string[]
}

export interface OutcomeSources {
  readonly dataDir: string
  readonly partner: Partner
  readonly receiver: TestReceiver
}

export async function outcomesOf(
  { dataDir, partner, receiver }: OutcomeSources,
  entities: readonly string[],
): Promise<Outcome[]> {
  const books = await rawBooks(dataDir)
  const rail = await openDatabase(join(dataDir, FILES.railDatabase), { readOnly: true })
  const outcomes: Outcome[] = []
  for (const id of entities) {
    const { text, body } = await retryUntilFinal(() => partner.request('GET', pathOf(id)))
    const events = await books.all<{ type: string; body: string }>(
      // The event of a refused refund has the number of the refund after the id.
      `SELECT type, body FROM events WHERE entity = ?1 OR entity LIKE ?1 || '@%'
       ORDER BY position`,
      [id],
    )
    const entries = await books.all<{ entry: string }>(
      `SELECT plan || ' ' || account || ' ' || CAST(amount AS TEXT) AS entry
       FROM ledger_entries WHERE entity = ? ORDER BY posting, line`,
      [id],
    )
    const [instruction] = await rail.all<{ executions: number }>(
      'SELECT executions FROM instructions WHERE id = ?',
      [id],
    )
    outcomes.push({
      status: (body as { status: string }).status,
      projection: anonymous(text),
      events: events.map((event) => ({ type: event.type, body: anonymous(event.body) })),
      entries: entries.map(({ entry }) => entry),
      executions: instruction?.executions ?? null,
      received: receiver.deliveries
        .filter((delivery) => delivery.body.includes(id))
        .map(({ eventType }) => eventType)
        .sort(),
    })
  }
  await books.close()
  await rail.close()
  return outcomes
}

/** A scan that had to be repeated binds a later version of its quote. */
const anonymous = (text: string): string =>
  text
    .replace(/"([a-z]+)_[0-9A-HJKMNP-TV-Z]{26}"/g, '"$1"')
    .replace(/"[0-9-]{10}T[0-9:.]+Z"/g, '"time"')
    .replace(/"sbx_[0-9a-f]+"/g, '"transaction"')
    .replace(/("quote_version"|"expires_at"):[0-9]+/g, '$1:0')
