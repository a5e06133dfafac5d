/**
 * Derived amounts: fees and totals, quotes and their rates, reserved balances.
 */
import type { Books } from '../books.js'
import { amountOf, type Violation, type Check } from '../check.js'

interface PayoutRow {
  readonly id: string
  readonly amount: string
  readonly recipient: string
  readonly total: string
  readonly platform: string
  readonly rail: string
  readonly fee: string
}

const PAYOUTS = `
  SELECT id, context ->> 'amount' AS amount, context ->> 'recipientAmount' AS recipient,
         context ->> 'total' AS total, context ->> '$.fees.platform' AS platform,
         context ->> '$.fees.rail' AS rail, context ->> '$.fees.sum' AS fee
    FROM payouts WHERE id > ? ORDER BY id LIMIT ?`

export const payoutAmountsAddUp: Check = {
  name: 'payout_amounts_add_up',
  sentence:
    'A total is the recipient amount plus fees; the amount is the total or the recipient amount.',
  reads: [],
  run: async (books) => {
    for await (const page of books.pages<PayoutRow>(PAYOUTS, [''], ({ id }) => [id])) {
      for (const row of page) {
        const broken = faultOfPayout(row)
        if (broken !== null) return { rows: await books.count('payouts'), broken }
      }
    }
    return { rows: await books.count('payouts'), broken: null }
  },
}

function faultOfPayout(row: PayoutRow): Violation | null {
  const [amount, recipient] = [amountOf(row.amount), amountOf(row.recipient)]
  const fee = amountOf(row.platform) + amountOf(row.rail)
  const total = recipient + fee
  const isSum = total === amountOf(row.total) && fee === amountOf(row.fee)
  if (isSum && (amount === total || amount === recipient)) return null
  return {
    entity: row.id,
    found: `amount ${amount}, recipient ${recipient}, fee ${row.fee}, total ${row.total}`,
    expected: `fee ${fee}, total ${total}, and as amount the total or the recipient's`,
  }
}

interface QuoteRow {
  readonly id: string
  readonly corridor: string
  readonly ceiling: number
  readonly cents: number
  readonly local: string
  readonly currency: string
  readonly numerator: string
  readonly denominator: string
}

const QUOTES = `
  SELECT id, context ->> 'corridor' AS corridor, context ->> 'amountCents' AS ceiling,
         context ->> '$.scanned.quote.cents' AS cents,
         context ->> '$.scanned.quote.localMinor' AS local,
         context ->> '$.scanned.quote.currency' AS currency,
         context ->> '$.scanned.quote.rate.numerator' AS numerator,
         context ->> '$.scanned.quote.rate.denominator' AS denominator
    FROM intents
    WHERE id > ? AND context ->> '$.scanned.quote.id' IS NOT NULL ORDER BY id LIMIT ?`

/** A corridor's currency, and minor units per unit. */
export const LOCAL_MONEY: Readonly<Record<string, readonly [currency: string, units: bigint]>> = {
  th_promptpay: ['THB', 100n],
  vn_vietqr: ['VND', 1n],
}

export const quotesMatchRates: Check = {
  name: 'quotes_match_rates',
  sentence:
    'A quote is the local amount at its rate, rounded up to a US cent, and within the ceiling.',
  reads: [],
  run: async (books) => {
    let rows = 0
    for await (const page of books.pages<QuoteRow>(QUOTES, [''], ({ id }) => [id])) {
      rows += page.length
      for (const row of page) {
        const broken = faultOfQuote(row)
        if (broken !== null) return { rows, broken }
      }
    }
    return { rows, broken: null }
  },
}

function faultOfQuote(row: QuoteRow): Violation | null {
  const [currency, units] = LOCAL_MONEY[row.corridor] ?? ['', 1n]
  const dividend = amountOf(row.local) * 100n * amountOf(row.denominator)
  const divisor = amountOf(row.numerator) * units
  const cents = (dividend + divisor - 1n) / divisor
  const isRight = BigInt(row.cents) === cents && row.currency === currency
  if (isRight && row.cents <= row.ceiling) return null
  return {
    entity: row.id,
    found: `${row.cents} cents for ${row.currency} ${row.local}`,
    expected: `${cents} cents for ${currency} ${row.local}, at most ${row.ceiling}`,
  }
}

interface OpenRow {
  readonly id: string
  readonly account: string
  readonly amount: string
}

const OPEN_PAYOUTS = `
  SELECT id, tenant || ':' || (context ->> 'currency') || ':reserved' AS account,
         context ->> 'total' AS amount
    FROM payouts WHERE id > ? AND state IN ('created', 'processing') ORDER BY id LIMIT ?`
const OPEN_INTENTS = `
  SELECT id, tenant || ':USD:reserved' AS account,
         CAST(context ->> '$.scanned.quote.cents' AS TEXT) AS amount
    FROM intents WHERE id > ? AND state = 'authorized' ORDER BY id LIMIT ?`
const RESERVED = `
  SELECT id, CAST(balance AS TEXT) AS balance FROM ledger_accounts WHERE id GLOB '*:reserved'`

export const reservedMatchesOpenPayments: Check = {
  name: 'reserved_matches_open_payments',
  sentence:
    'A reserved balance is the sum of the open payouts and authorized intents of its tenant and ' +
    'currency.',
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const owed = new Map<string, bigint>()
    const rows =
      (await addOpen(books, OPEN_PAYOUTS, owed)) + (await addOpen(books, OPEN_INTENTS, owed))
    for (const { id, balance } of await books.all<{ id: string; balance: string }>(RESERVED)) {
      const expected = owed.get(id) ?? 0n
      owed.delete(id)
      if (amountOf(balance) === expected) continue
      return { rows, broken: { entity: id, found: balance, expected: `${expected}` } }
    }
    const [missing] = owed
    if (missing === undefined) return { rows, broken: null }
    const [entity, expected] = missing
    return { rows, broken: { entity, found: 'no account', expected: `${expected}` } }
  },
}

async function addOpen(books: Books, sql: string, owed: Map<string, bigint>): Promise<number> {
  let rows = 0
  for await (const page of books.pages<OpenRow>(sql, [''], ({ id }) => [id])) {
    rows += page.length
    for (const { account, amount } of page) {
      owed.set(account, (owed.get(account) ?? 0n) + amountOf(amount))
    }
  }
  return rows
}
