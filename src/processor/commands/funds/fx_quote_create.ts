/**
 * Quotes a conversion between two of a tenant's balances.
 *
 * - The quote fixes both amounts; a later change of the rate does not affect it.
 * - The bought amount rounds down; a quote of zero is refused.
 * - No money moves here; the conversion checks the balance.
 */
import { instant, plus, SECOND, toRfc3339, type Instant } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import { newId, type TenantId } from '../../../base/ids.js'
import { currencyOf } from '../../../money/currency.js'
import { fitsInt64, parsePositiveInt64, toWire } from '../../../money/money.js'
import { applySpread, convert } from '../../../money/rate.js'
import type { CreateFxQuote__Output as CreateFxQuote } from '../../../../protos/types/causeway/v1/CreateFxQuote.js'
import type { Row } from '../../../store/tables.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { isSuspended } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import { rateBetween } from '../../../quotes/rates.js'

/** Long enough for a person to decide, short enough to limit the exposure to the rate. */
export const FX_QUOTE_TTL_MS = 60 * SECOND

export function createFxQuote(tenant: TenantId, request: CreateFxQuote): Command {
  return {
    name: 'create_fx_quote',
    needs: () => undefined,
    decide: (ctx) => {
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      const { sell_currency: sell, buy_currency: buy } = request
      const sold = parsePositiveInt64(request.sell_amount)
      if (sold === undefined) return invalid('/sell_amount', 'must be a positive 64-bit integer')
      if (sell === buy) return invalid('/buy_currency', 'must differ from sell_currency')
      const from = currencyOf(sell)
      const to = currencyOf(buy)
      if (from === undefined || to === undefined) return refuse('unsupported_currency')
      const rate = rateBetween(ctx, tenant, from, to)
      if (rate === null) return refuse('unsupported_currency')
      const bought = convert(sold, from, to, applySpread(rate, ctx.rules.spreadBps))
      if (bought === 0n) return invalid('/sell_amount', 'must buy at least one minor unit')
      if (!fitsInt64(bought)) return invalid('/sell_amount', 'must buy a 64-bit amount')

      // From here on it must succeed.
      const row: Row<'fxQuotes'> = {
        id: newId('fxQuote', ctx.now, ctx.random),
        tenant,
        sold_currency: from,
        sold,
        bought_currency: to,
        bought,
        expires_at: plus(ctx.now, FX_QUOTE_TTL_MS),
        conversion: null,
        request_id: ctx.origin.requestId,
      }
      stageFxQuote(ctx, row)
      return answer(viewOf(row, ctx.now))
    },
  }
}

export function stageFxQuote({ memory, batch }: CommandContext, row: Row<'fxQuotes'>): void {
  memory.fxQuotes.set(row.id, row, batch.number)
  batch.stage('fxQuotes', row.id, row)
}

/** The amounts as both the quote and its conversion show them. */
export const termsView = (row: Row<'fxQuotes'>): object => ({
  sell_currency: row.sold_currency,
  sell_amount: toWire(row.sold),
  buy_currency: row.bought_currency,
  buy_amount: toWire(row.bought),
})

const viewOf = (row: Row<'fxQuotes'>, now: Instant): object => ({
  id: row.id,
  ...termsView(row),
  created_at: toRfc3339(now),
  expires_at: toRfc3339(instant(row.expires_at)),
})
