/**
 * Binds a merchant's QR code and a quote to an intent.
 *
 * - The payload is parsed only here; a client's own parsing is not trusted.
 * - A refused scan leaves the quote of the previous successful scan bound.
 * - The session token is not consumed.
 */
import { plus, type Instant } from '../../../base/clock.js'
import { newId, type QuoteId, type TenantId } from '../../../base/ids.js'
import { checkLimits } from '../../../limits/usage.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { parsePositiveInt64 } from '../../../money/money.js'
import { CORRIDORS, type Corridor } from '../../../qr/corridor.js'
import { bindAmount, readQr, type QrReading } from '../../../qr/read.js'
import { wireCodeOf, type QrReason } from '../../../qr/reasons.js'
import { makeQuote } from '../../../quotes/quote.js'
import type { ScanIntent__Output as ScanIntent } from '../../../../protos/types/causeway/internal/v1/ScanIntent.js'
import type { Scanned } from '../../../../actors/intent/context.js'
import { scanView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { hasCorridor, isSuspended } from '../../changes/directory.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { LiveIntent } from '../../cache/memory.js'
import type { Needs } from '../../cycle/needs.js'
import { intentAccountField } from '../../changes/rail_instructions.js'
import { usableRate } from '../../../quotes/rates.js'
import type { Vault } from '../../keys/vault.js'
import { needUserLimits, usedBy } from './intent_needs.js'

export function scanIntent(tenant: TenantId, request: ScanIntent, at: Instant): Command {
  const { intent_id: intentId } = request
  return {
    name: 'scan_intent',

    needs: (needs: Needs, memory) => {
      needs.intent(intentId)
      const live = memory.intents.get(intentId)
      if (live) needUserLimits(needs, live.context, at)
    },

    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('authentication_failed')
      const { context } = live
      if (context.confirmation?.jti === request.session_jti) return refuse('authentication_failed')
      if (live.state !== 'created' || ctx.now >= context.expiresAt) {
        return refuse('payment_intent_not_scannable')
      }
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      if (!hasCorridor(ctx.memory, tenant, context.corridor)) return refuse('corridor_not_enabled')

      const read = readQr(request.qr_payload, context.corridor)
      if (!read.ok) return refusedCode(read.reason)
      const clientMinor = clientAmount(request)
      if (clientMinor === 'invalid') return refuse('local_amount_invalid')
      const bound = bindAmount(read.reading, clientMinor)
      if (!bound.ok) return refusedCode(bound.reason)
      const key = duplicateKeyOf(ctx.vault, read.reading, bound.minor)
      const acknowledged = request.duplicate_confirmed
      if (!acknowledged && ctx.memory.recentPayments.has(context, key, ctx.now)) {
        return refuse('duplicate_scan')
      }
      const caps = ctx.rules.caps[context.corridor]
      if (bound.minor < caps.minimum) return refuse('amount_below_minimum')
      const used = usedBy(ctx, context)
      if (checkLimits(caps, used, bound.minor) !== 'within') return refuse('user_limit_exceeded')
      const currency = localCurrency(context.corridor)
      const rate = usableRate(ctx, context.tenant, currency)
      if (rate === null) return refuse('configuration_error')
      const quoted = makeQuote({
        id: newId<QuoteId>('quote', ctx.now, ctx.random),
        version: (context.scanned?.quote.version ?? 0) + 1,
        localMinor: bound.minor,
        currency,
        rate,
        spreadBps: ctx.rules.spreadBps,
        ceilingCents: context.amountCents,
        expiresAt: plus(ctx.now, ctx.rules.quoteTtlMs),
        acknowledgedDuplicate: acknowledged,
      })
      if (!quoted.ok) return refuse(quoted.code)

      // From here on it must succeed.
      const scanned = scannedOf(ctx, live, read.reading, key, quoted.quote)
      advanceIntent(ctx, live, { type: 'scan', at: ctx.now, scanned })
      return answer(scanView(live.state, live.context))
    },
  }
}

const refusedCode = (reason: QrReason): Answer => ({ ok: false, code: wireCodeOf(reason), reason })

/** The client's amount; null when absent. The gateway checks only that it is an int64. */
function clientAmount(request: ScanIntent): bigint | null | 'invalid' {
  const given = request.local_amount_minor_units
  if (given === undefined || given === null) return null
  return parsePositiveInt64(given) ?? 'invalid'
}

const duplicateKeyOf = (vault: Vault, reading: QrReading, minor: bigint): string =>
  vault.digest(`${reading.duplicateKey}\n${minor}`)

function localCurrency(corridor: Corridor): Currency {
  const currency = currencyOf(CORRIDORS[corridor].currencyAlpha)
  if (currency === undefined) throw new Error('broken invariant: a corridor has a currency')
  return currency
}

function scannedOf(
  { vault, origin }: CommandContext,
  live: LiveIntent,
  reading: QrReading,
  duplicateKey: string,
  quote: Scanned['quote'],
): Scanned {
  const { scheme, accountType, bankCode, account, reference1, reference2 } = reading.destination
  const sealedAccount = vault.sealAccount(account, intentAccountField(live.context.id))
  return {
    merchant: reading.merchant,
    qrKind: reading.kind,
    destination: { scheme, accountType, bankCode, sealedAccount, reference1, reference2 },
    destinationMasked: reading.destinationMasked,
    duplicateKey,
    quote,
    ...(origin.requestId === null ? {} : { requestId: origin.requestId }),
  }
}
