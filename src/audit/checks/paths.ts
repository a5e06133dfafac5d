/**
 * The postings of every payout, intent and discrepancy: exactly those of its lifecycle, with its
 * amounts.
 *
 * - The audit states the posting plans a second time, independent of ledger/plans.ts.
 */
import { amountOf, type Check } from '../check.js'

interface Posting {
  readonly plan: string
  /** The time of its transition; null when the entity has not reached it. */
  readonly at: number | null
  readonly lines: readonly Line[]
}
/** Account kind, currency, signed amount. */
type Line = readonly [string, string, bigint]

interface BookedRow {
  readonly id: string
  readonly tenant: string
  /** Its entries as JSON, in posting order. */
  readonly booked: string
}
type BookedEntry = readonly [
  posting: number,
  plan: string,
  at: number,
  account: string,
  amount: string,
]

const BOOKED = `
  (SELECT json_group_array(json_array(posting, plan, at, account, CAST(amount AS TEXT))
                           ORDER BY posting, line)
    FROM ledger_entries WHERE entity = x.id) || '' AS booked`

interface PayoutRow extends BookedRow {
  readonly currency: string
  readonly total: string
  readonly recipient: string
  readonly fee: string
  readonly refundsFees: number
  readonly createdAt: number
  readonly completedAt: number | null
  readonly failedAt: number | null
  readonly reversedAt: number | null
}

const PAYOUTS = `
  SELECT id, tenant, context ->> 'currency' AS currency, context ->> 'total' AS total,
         context ->> 'recipientAmount' AS recipient, context ->> '$.fees.sum' AS fee,
         context ->> 'refundFeesOnReversal' AS refundsFees, context ->> 'createdAt' AS createdAt,
         context ->> 'completedAt' AS completedAt, context ->> 'failedAt' AS failedAt,
         context ->> 'reversedAt' AS reversedAt, ${BOOKED}
    FROM payouts x WHERE id > ? ORDER BY id LIMIT ?`

function pathOfPayout(row: PayoutRow): Posting[] {
  const [total, recipient, fee] = [amountOf(row.total), amountOf(row.recipient), amountOf(row.fee)]
  const refunded = row.refundsFees === 1 ? fee : 0n
  const { currency } = row
  return [
    {
      plan: 'payout_accepted',
      at: row.createdAt,
      lines: [
        ['prefund', currency, -total],
        ['reserved', currency, total],
      ],
    },
    {
      plan: 'payout_completed',
      at: row.completedAt,
      lines: [
        ['reserved', currency, -total],
        ['rail_clearing', currency, recipient],
        ['fees', currency, fee],
      ],
    },
    {
      plan: 'payout_failed',
      at: row.failedAt,
      lines: [
        ['reserved', currency, -total],
        ['prefund', currency, total],
      ],
    },
    {
      plan: 'payout_reversed',
      at: row.reversedAt,
      lines: [
        ['rail_clearing', currency, -recipient],
        ['prefund', currency, recipient],
        ['fees', currency, -refunded],
        ['prefund', currency, refunded],
      ],
    },
  ]
}

interface IntentRow extends BookedRow {
  readonly currency: string | null
  readonly cents: string | null
  readonly local: string | null
  readonly confirmedAt: number | null
  readonly capturedAt: number | null
  readonly failedAt: number | null
  readonly cancelledAt: number | null
  readonly refundedAt: number | null
}

const INTENTS = `
  SELECT id, tenant, context ->> '$.scanned.quote.currency' AS currency,
         CAST(context ->> '$.scanned.quote.cents' AS TEXT) AS cents,
         context ->> '$.scanned.quote.localMinor' AS local,
         context ->> 'confirmedAt' AS confirmedAt, context ->> 'capturedAt' AS capturedAt,
         context ->> 'failedAt' AS failedAt, context ->> 'cancelledAt' AS cancelledAt,
         context ->> 'refundedAt' AS refundedAt, ${BOOKED}
    FROM intents x WHERE id > ? ORDER BY id LIMIT ?`

function pathOfIntent(row: IntentRow): Posting[] {
  if (row.confirmedAt === null) return [] // no money moves before confirm
  const [cents, minor] = [amountOf(row.cents), amountOf(row.local)]
  const local = row.currency ?? ''
  const released: readonly Line[] = [
    ['reserved', 'USD', -cents],
    ['prefund', 'USD', cents],
  ]
  return [
    {
      plan: 'intent_confirmed',
      at: row.confirmedAt,
      lines: [
        ['prefund', 'USD', -cents],
        ['reserved', 'USD', cents],
      ],
    },
    {
      plan: 'intent_captured',
      at: row.capturedAt,
      lines: [
        ['reserved', 'USD', -cents],
        ['fx', 'USD', cents],
        ['fx', local, -minor],
        ['rail_clearing', local, minor],
      ],
    },
    { plan: 'intent_failed', at: row.failedAt, lines: released },
    { plan: 'intent_cancelled', at: row.cancelledAt, lines: released },
    {
      plan: 'intent_refunded',
      at: row.refundedAt,
      lines: [
        ['rail_clearing', local, -minor],
        ['fx', local, minor],
        ['fx', 'USD', -cents],
        ['prefund', 'USD', cents],
      ],
    },
  ]
}

interface DiscrepancyRow extends BookedRow {
  readonly plan: string | null
  readonly currency: string
  readonly amount: string | null
  readonly at: number
  readonly settlement: string | null
  readonly resolvedAt: number | null
}

const DISCREPANCIES = `
  SELECT id, coalesce(tenant, '') AS tenant, plan, coalesce(currency, '') AS currency,
         CAST(amount AS TEXT) AS amount, at, settlement, resolved_at AS resolvedAt, ${BOOKED}
    FROM main.discrepancies x WHERE id > ? ORDER BY id LIMIT ?`

/** By settlement and original plan: the plan that clears suspense, and its other account. */
const CLEARED: Readonly<Record<string, readonly [plan: string, account: string]>> = {
  'undo discrepancy_paid': ['discrepancy_returned', 'rail_clearing'],
  'undo discrepancy_returned': ['discrepancy_paid', 'rail_clearing'],
  'charge_partner discrepancy_paid': ['discrepancy_charged', 'prefund'],
  'credit_partner discrepancy_returned': ['discrepancy_credited', 'prefund'],
  'write_off discrepancy_paid': ['discrepancy_lost', 'funding'],
  'write_off discrepancy_returned': ['discrepancy_gained', 'funding'],
}

/** One posting into suspense and, once settled, one that clears it to another account. */
function pathOfDiscrepancy(row: DiscrepancyRow): Posting[] {
  const { plan, currency, at, resolvedAt } = row
  if (plan === null) return []
  const out = plan === 'discrepancy_paid' ? amountOf(row.amount) : -amountOf(row.amount)
  const posting = (name: string, when: number, account: string, left: bigint): Posting => ({
    plan: name,
    at: when,
    lines: [
      [account, currency, left],
      ['suspense', currency, -left],
    ],
  })
  const posted = posting(plan, at, 'rail_clearing', out)
  const cleared = CLEARED[`${row.settlement} ${plan}`]
  if (cleared === undefined || resolvedAt === null) return [posted]
  return [posted, posting(cleared[0], resolvedAt, cleared[1], -out)]
}

interface PathCheck<Row> {
  readonly name: string
  readonly sentence: string
  readonly table: string
  readonly select: string
  readonly pathOf: (row: Row) => readonly Posting[]
}

function overPaths<Row extends BookedRow>(check: PathCheck<Row>): Check {
  const { name, sentence, table, select, pathOf } = check
  return {
    name,
    sentence,
    reads: [],
    run: async (books) => {
      const rows = await books.count(table)
      for await (const page of books.pages<Row>(select, [''], ({ id }) => [id])) {
        for (const row of page) {
          const found = formatBooked(row.booked)
          const expected = formatPath(row.tenant, pathOf(row))
          if (found !== expected) return { rows, broken: { entity: row.id, found, expected } }
        }
      }
      return { rows, broken: null }
    },
  }
}

const NOTHING = 'no posting'

/** An entity's ledger entries in the format of `formatPath`. */
function formatBooked(booked: string): string {
  const postings = new Map<number, BookedEntry[]>()
  for (const entry of JSON.parse(booked) as BookedEntry[]) {
    const before = postings.get(entry[0])
    if (before === undefined) postings.set(entry[0], [entry])
    else before.push(entry)
  }
  const texts = [...postings.values()].map((entries) => {
    const [, plan, at] = entries[0]!
    const lines = entries.map(([, , , account, amount]) => `${account} ${amount}`)
    return formatPosting(plan, at, lines)
  })
  return texts.length === 0 ? NOTHING : texts.join('; ')
}

/** Lines with a zero amount are not posted. */
function formatPath(tenant: string, path: readonly Posting[]): string {
  const texts: string[] = []
  for (const { plan, at, lines } of path) {
    if (at === null) continue
    const moved = lines.filter(([, , amount]) => amount !== 0n)
    const named = moved.map(([kind, currency, n]) => `${tenant}:${currency}:${kind} ${n}`)
    texts.push(formatPosting(plan, at, named))
  }
  return texts.length === 0 ? NOTHING : texts.join('; ')
}

/** Sorted, because the order of lines has no meaning. */
const formatPosting = (plan: string, at: number, lines: readonly string[]): string =>
  `${plan} at ${at}: ${[...lines].sort().join(', ')}`

export const payoutPostingsMatchLifecycle = overPaths<PayoutRow>({
  name: 'payout_postings_match_lifecycle',
  sentence: 'A payout has exactly the postings of its lifecycle, with its amounts and timestamps.',
  table: 'payouts',
  select: PAYOUTS,
  pathOf: pathOfPayout,
})

export const intentPostingsMatchLifecycle = overPaths<IntentRow>({
  name: 'intent_postings_match_lifecycle',
  sentence: 'An intent has exactly the postings of its lifecycle, with its quote and timestamps.',
  table: 'intents',
  select: INTENTS,
  pathOf: pathOfIntent,
})

export const discrepanciesArePosted = overPaths<DiscrepancyRow>({
  name: 'discrepancies_are_posted',
  sentence: 'A discrepancy about money has its entries in suspense, and those that settled it.',
  table: 'main.discrepancies',
  select: DISCREPANCIES,
  pathOf: pathOfDiscrepancy,
})
