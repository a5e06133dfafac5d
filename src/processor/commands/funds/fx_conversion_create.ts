/**
 * Converts at an FX quote: sells from one of a tenant's balances and buys into the other.
 *
 * - The same key again with the same quote replays the first conversion.
 * - A quote is used once. A quote that is expired or used is refused as expired.
 */
import { instant, toRfc3339 } from '../../../base/clock.js'
import type { TenantId } from '../../../base/ids.js'
import type { Currency } from '../../../money/currency.js'
import { money } from '../../../money/money.js'
import { hasExpired } from '../../../quotes/quote.js'
import type { CreateFxConversion__Output as CreateFxConversion } from '../../../../protos/types/causeway/v1/CreateFxConversion.js'
import type { Command } from '../../cycle/command.js'
import { isSuspended } from '../../changes/directory.js'
import { convertFunds, refusalOfConversion } from '../../changes/funds.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { FX_QUOTE_TTL_MS, stageFxQuote, termsView } from './fx_quote_create.js'

export function createFxConversion(tenant: TenantId, request: CreateFxConversion): Command {
  const { quote_id: quoteId, idempotency_key: key } = request
  const rowKey = idempotencyRowKey(tenant, 'create_fx_conversion', key)
  return {
    name: 'create_fx_conversion',
    needs: (needs) => {
      needs.idempotency(rowKey)
      needs.fxQuote(quoteId)
    },
    decide: (ctx) => {
      const known = boundRow(ctx.memory, rowKey)
      if (known) {
        if (known.request_hash !== quoteId) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      const quote = ctx.memory.fxQuotes.get(quoteId)
      if (!quote || quote.tenant !== tenant) return refuse('fx_quote_not_found')
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      const isOver = hasExpired(instant(quote.expires_at), FX_QUOTE_TTL_MS, ctx.now)
      if (quote.conversion !== null || isOver) return refuse('quote_expired')
      const terms = {
        sold: money(quote.sold_currency as Currency, quote.sold),
        bought: money(quote.bought_currency as Currency, quote.bought),
      }
      const refusal = refusalOfConversion(ctx, tenant, terms)
      if (refusal !== null) return refuse(refusal)

      // From here on it must succeed.
      const id = convertFunds(ctx, tenant, terms)
      stageFxQuote(ctx, { ...quote, conversion: id })
      const created = toRfc3339(ctx.now)
      const view = { id, quote_id: quoteId, ...termsView(quote), created_at: created }
      const response = JSON.stringify(view)
      bindKey(ctx, rowKey, { requestHash: quoteId, entity: id, response })
      return answer(view)
    },
  }
}
