/**
 * The statement of a partner: what its balance transactions show of a period, with the balances at
 * both ends.
 *
 * - The balance of each account follows from the one before it and the movement, from the opening
 *   to the closing balance, else the statement fails.
 */
import { DAY, instant, toRfc3339, type Instant } from '../../base/clock.js'
import { csvLine } from '../../base/csv.js'
import type { Period } from '../../reconciliation/movement.js'
import type { Actor } from '../cli/actor.js'
import { plainAmount } from '../cli/amounts.js'
import { CommandFault } from '../calls/command_fault.js'
import { entriesOfTenant, type BalanceLine, type LedgerEntry } from './ledger_client.js'
import type { LedgerSource } from './ledger_client.js'
import type { NamedTenant } from '../cli/tenant.js'

/** Amounts are minor units. */
export interface StatementAccount {
  readonly currency: string
  /** As in balance transactions. */
  readonly account: 'available' | 'reserved'
  readonly opening: bigint
  moneyIn: bigint
  moneyOut: bigint
  /** The opening balance until there is a movement. */
  closing: bigint
}

export interface StatementMovement {
  readonly at: Instant
  /** The id of the balance transaction. */
  readonly id: string
  readonly type: string
  readonly entity: string
  readonly currency: string
  readonly account: StatementAccount['account']
  readonly amount: bigint
  readonly balance: bigint
}

export type StatementPart =
  | { readonly kind: 'opening' | 'closing'; readonly accounts: readonly StatementAccount[] }
  | { readonly kind: 'movements'; readonly movements: readonly StatementMovement[] }

export interface StatementPeriod extends Period {
  /** The month ends later than the statement. */
  readonly isOpen: boolean
}

/** A month in UTC, up to now. @throws CommandFault unless it is one that has begun */
export function monthIn(text: string, now: Instant): StatementPeriod {
  const from = /^\d{4}-\d\d$/.test(text) ? Date.parse(`${text}-01`) : Number.NaN
  if (!(from >= 0)) throw new CommandFault('This needs --month MONTH, e.g. 2026-10.')
  if (from >= now) throw new CommandFault(`${text} has not begun.`)
  const later = new Date(from + 31 * DAY)
  const end = Date.UTC(later.getUTCFullYear(), later.getUTCMonth())
  return { from: instant(from), to: instant(Math.min(end, now)), isOpen: end > now }
}

/** Opening balances, movements page by page, closing balances. @throws Refused, Error */
export async function* statementOf(
  sources: readonly LedgerSource[],
  actor: Actor,
  period: Period,
  tenant: NamedTenant,
): AsyncGenerator<StatementPart> {
  const accounts = new Map<string, StatementAccount>()
  const closing: BalanceLine[] = []
  let isBegun = false
  for await (const page of entriesOfTenant(sources, actor, period, tenant)) {
    for (const line of page.opening) accounts.set(keyOf(line), openingOf(line))
    closing.push(...page.balances)
    if (page.entries.length === 0) continue
    if (!isBegun) yield { kind: 'opening', accounts: inOrder(accounts) }
    isBegun = true
    yield { kind: 'movements', movements: page.entries.map((entry) => moved(accounts, entry)) }
  }
  if (!isBegun) yield { kind: 'opening', accounts: inOrder(accounts) }
  for (const line of closing) {
    if (accounts.get(keyOf(line))?.closing !== BigInt(line.balance)) throw inconsistent(line)
  }
  yield { kind: 'closing', accounts: inOrder(accounts) }
}

const keyOf = ({ currency, account }: BalanceLine | LedgerEntry): string =>
  `${currency} ${shown(account)}`

const shown = (account: string): StatementAccount['account'] =>
  account === 'prefund' ? 'available' : 'reserved'

function openingOf({ currency, account, balance }: BalanceLine): StatementAccount {
  const opening = BigInt(balance)
  return {
    ...{ currency, account: shown(account), opening, moneyIn: 0n, moneyOut: 0n, closing: opening },
  }
}

/** Adds an entry to its account. */
function moved(
  accounts: ReadonlyMap<string, StatementAccount>,
  entry: LedgerEntry,
): StatementMovement {
  const account = accounts.get(keyOf(entry))
  const [amount, balance] = [BigInt(entry.amount), BigInt(entry.balance)]
  if (account === undefined || account.closing + amount !== balance) throw inconsistent(entry)
  account.closing = balance
  if (amount > 0n) account.moneyIn += amount
  else account.moneyOut -= amount
  const { type, entity, currency, balance_transaction_id: id = '' } = entry
  const at = instant(Number(entry.at))
  return { at, id, type, entity, currency, account: account.account, amount, balance }
}

const inconsistent = ({ tenant, currency, account }: BalanceLine | LedgerEntry): Error =>
  new Error(`${tenant} ${currency} ${account}: the balances do not follow. Run make audit.`)

/** Copies, because later movements change the accounts. */
const inOrder = (accounts: ReadonlyMap<string, StatementAccount>): readonly StatementAccount[] =>
  [...accounts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => ({ ...each }))

export const STATEMENT_HEAD = csvLine([
  ...['time', 'id', 'type', 'entity', 'currency', 'account', 'money_in', 'money_out', 'balance'],
])

/** The lines of a part of the statement. */
export function statementLines(part: StatementPart, { from, to }: Period): string {
  if (part.kind === 'movements') return part.movements.map(movementLine).join('')
  const isOpening = part.kind === 'opening'
  const lines = part.accounts.map(({ currency, account, opening, closing }) => {
    const balance = plainAmount(currency, isOpening ? opening : closing)
    const at = toRfc3339(isOpening ? from : to)
    return csvLine([at, '', `${part.kind}_balance`, '', currency, account, '', '', balance])
  })
  return lines.join('')
}

function movementLine({ at, currency, amount, balance, ...of }: StatementMovement): string {
  const sides =
    amount < 0n ? ['', plainAmount(currency, -amount)] : [plainAmount(currency, amount), '']
  return csvLine([
    ...[toRfc3339(at), of.id, of.type, of.entity, currency, of.account, ...sides],
    plainAmount(currency, balance),
  ])
}
