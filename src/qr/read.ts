/**
 * Reads a merchant's QR code: from the raw payload to the payee and the amount.
 *
 * Owns: the order of the checks, which determines the reason reported. Does not own: the scheme
 * tables (promptpay, vietqr), the use of a reading for an intent (processor).
 *
 * - Strict: anything that two readers could interpret differently is rejected.
 * - The payload is read as received: never trimmed, never normalized.
 * - An amount binds if it is present in the code, whether the code says static or dynamic.
 * - Accepts any string, in linear time, and never throws.
 * - A reading holds account numbers, in `destination` and in `duplicateKey`: never show or log
 *   them. `destinationMasked`, the merchant's texts and the reasons may be shown.
 */
import { QR_PAYLOAD_MAX } from '../base/constants.js'
import { readAmount } from './amount.js'
import { CORRIDORS, type Corridor, type CorridorFacts } from './corridor.js'
import { crc16 } from './crc.js'
import { findDestination, SCHEMES } from './destination.js'
import { masked } from './mask.js'
import { found, rejected, type QrReason, type Rejected } from './reasons.js'
import type { Destination } from './scheme.js'
import { walk, type Objects, type Walked } from './tlv.js'

export interface QrReading {
  /** Texts for display, as the merchant wrote them; empty when absent. */
  readonly merchant: {
    readonly scheme: string
    readonly name: string
    readonly city: string
    readonly country: string
    readonly mcc: string
  }
  readonly kind: 'static' | 'dynamic'
  readonly destination: Destination
  readonly destinationMasked: string
  /** Minor units of the corridor's currency; null when the payer chooses. */
  readonly embeddedAmountMinor: bigint | null
  /** Equal for codes with the same destination and references, however they are encoded. */
  readonly duplicateKey: string
}

export type QrOutcome = { readonly ok: true; readonly reading: QrReading } | Rejected

export function readQr(payload: string, corridor: Corridor): QrOutcome {
  const textFault = faultOfText(payload) ?? faultOfChecksum(payload)
  if (textFault !== undefined) return rejected(textFault)
  const walked = walk(payload)
  if (!walked.ok) return walked
  const root = walked.value.objects
  const frameFault = faultOfFrame(walked.value)
  if (frameFault !== undefined) return rejected(frameFault)

  const destination = findDestination(root, corridor)
  if (!destination.ok) return destination
  const facts = CORRIDORS[corridor]
  const termsFault = faultOfMarket(root, facts) ?? faultOfFees(root)
  if (termsFault !== undefined) return rejected(termsFault)
  const amountText = root.get('54')
  const amount = amountText === undefined ? found(null) : readAmount(amountText, facts.exponent)
  if (!amount.ok) return amount
  const additionalData = walk(root.get('62') ?? '')
  if (!additionalData.ok) return additionalData
  const otherLanguage = walk(root.get('64') ?? '')
  if (!otherLanguage.ok) return otherLanguage
  const hasName = otherLanguage.value.objects.has('01')
  if (root.has('64') && !hasName) return rejected('language_name_missing')
  const kind = kindOf(root)
  if (kind === 'dynamic' && amount.value === null) return rejected('dynamic_amount_missing')

  const payee = SCHEMES[facts.scheme].withReferences(
    destination.value,
    additionalData.value.objects,
  )
  return {
    ok: true,
    reading: {
      merchant: {
        scheme: facts.scheme,
        name: root.get('59') ?? otherLanguage.value.objects.get('01') ?? '',
        city: root.get('60') ?? '',
        country: facts.country,
        mcc: root.get('52') ?? '',
      },
      kind,
      destination: payee,
      destinationMasked: masked(payee.account),
      embeddedAmountMinor: amount.value,
      duplicateKey: duplicateKeyOf(corridor, payee),
    },
  }
}

/** Scanners often add a line end or a byte order mark; trimming is the caller's job. */
const AROUND = /[\s\p{Cc}]/u
/** Controls, lone surrogates, line separators, bidirectional controls. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF]/u

function faultOfText(payload: string): QrReason | undefined {
  if (payload === '') return 'payload_empty'
  if (isTooLong(payload)) return 'payload_too_long'
  if (AROUND.test(payload.charAt(0))) return 'payload_whitespace'
  if (AROUND.test(payload.charAt(payload.length - 1))) return 'payload_whitespace'
  if (FORBIDDEN.test(payload)) return 'payload_charset'
  return payload.startsWith('0002') ? undefined : 'payload_format_missing'
}

/** A code point is one or two UTF-16 units, so most lengths need no count. */
function isTooLong(payload: string): boolean {
  if (payload.length <= QR_PAYLOAD_MAX) return false
  if (payload.length > 2 * QR_PAYLOAD_MAX) return true
  return Array.from(payload).length > QR_PAYLOAD_MAX
}

/** The checksum covers everything before its own digits, which are case-insensitive. */
const CHECKSUM_LENGTH = 4
const ENDING = /^6304[0-9A-Fa-f]{4}$/

function faultOfChecksum(payload: string): QrReason | undefined {
  if (!ENDING.test(payload.slice(-2 * CHECKSUM_LENGTH))) return 'checksum_missing'
  const stated = Number.parseInt(payload.slice(-CHECKSUM_LENGTH), 16)
  return crc16(payload.slice(0, -CHECKSUM_LENGTH)) === stated ? undefined : 'checksum_mismatch'
}

/** The final characters are a checksum only if they are the value of object 63. */
function faultOfFrame({ objects, last }: Walked): QrReason | undefined {
  if (objects.get('00') !== '01') return 'payload_format_unsupported'
  if (last !== '63' || objects.get('63')?.length !== CHECKSUM_LENGTH) return 'checksum_missing'
  const initiation = objects.get('01')
  const known = initiation === undefined || initiation === '11' || initiation === '12'
  return known ? undefined : 'poi_invalid'
}

const MCC = /^[0-9]{4}$/

function faultOfMarket(root: Objects, facts: CorridorFacts): QrReason | undefined {
  const currency = root.get('53')
  if (currency === undefined) return 'currency_missing'
  if (currency !== facts.currencyNumeric) return 'currency_mismatch'
  const country = root.get('58')
  if (country === undefined) return 'country_missing'
  if (country !== facts.country) return 'country_mismatch'
  const mcc = root.get('52')
  return mcc === undefined || MCC.test(mcc) ? undefined : 'mcc_invalid'
}

/** A tip (01) is optional and not paid; a fixed (02) or percentage (03) fee is mandatory. */
function faultOfFees(root: Objects): QrReason | undefined {
  const indicator = root.get('55')
  if (root.has('56') !== (indicator === '02')) return 'fee_inconsistent'
  if (root.has('57') !== (indicator === '03')) return 'fee_inconsistent'
  if (indicator === undefined || indicator === '01') return undefined
  return indicator === '02' || indicator === '03' ? 'fee_unsupported' : 'fee_inconsistent'
}

/** Without a point of initiation, a code with an amount is dynamic. */
function kindOf(root: Objects): 'static' | 'dynamic' {
  const initiation = root.get('01')
  if (initiation === undefined) return root.has('54') ? 'dynamic' : 'static'
  return initiation === '12' ? 'dynamic' : 'static'
}

/** JSON keeps members unambiguous whatever characters a reference contains. */
function duplicateKeyOf(corridor: Corridor, payee: Destination): string {
  const { accountType, bankCode, account, reference1, reference2 } = payee
  return JSON.stringify([corridor, accountType, bankCode, account, reference1, reference2])
}

export type BoundAmount =
  { readonly ok: true; readonly minor: bigint } | Rejected<'amount_mismatch' | 'amount_required'>

/**
 * The amount to pay. An amount in the code binds: the caller's must be absent or equal. Without one
 * the caller's counts, and the caller checks its range.
 */
export function bindAmount(reading: QrReading, clientMinor: bigint | null): BoundAmount {
  const embedded = reading.embeddedAmountMinor
  if (embedded === null) {
    return clientMinor === null ? rejected('amount_required') : { ok: true, minor: clientMinor }
  }
  const agrees = clientMinor === null || clientMinor === embedded
  return agrees ? { ok: true, minor: embedded } : rejected('amount_mismatch')
}
