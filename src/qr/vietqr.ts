/**
 * VietQR: the Vietnamese scheme.
 *
 * Owns: its id, tag, services and account formats. Does not own: which banks exist (the rail).
 *
 * - The destination is in tag 38: bank and account in sub-object 01, the service in 02.
 * - No service means payment to a merchant. An unknown one is rejected: it may be no payment.
 * - Unknown sub-objects are ignored.
 */
import { found, rejected, type Step } from './reasons.js'
import type { Destination, Scheme, Template } from './scheme.js'
import { walk, type Objects } from './tlv.js'

const ACCOUNT = /^[0-9A-Za-z]{1,19}$/
const CARD = /^[0-9]{16,19}$/
const BANK = /^[0-9]{6}$/

const MERCHANT_SERVICE = 'QRPUSH'
const SERVICES = [
  { name: MERCHANT_SERVICE, accountType: 'merchant', form: ACCOUNT },
  { name: 'QRIBFTTA', accountType: 'account', form: ACCOUNT },
  { name: 'QRIBFTTC', accountType: 'card', form: CARD },
] as const

export const vietqr: Scheme = {
  guids: new Set(['A000000727']),
  tags: new Set(['38']),
  destinationOf,
  withReferences,
}

function destinationOf({ text }: Template): Step<Destination> {
  const template = walk(text)
  if (!template.ok) return template
  const { objects } = template.value
  const beneficiary = walk(objects.get('01') ?? '')
  if (!beneficiary.ok) return beneficiary

  const name = objects.get('02') ?? MERCHANT_SERVICE
  const service = SERVICES.find((known) => known.name === name)
  if (service === undefined) return rejected('service_unsupported')
  const bank = beneficiary.value.objects.get('00') ?? ''
  const account = beneficiary.value.objects.get('01') ?? ''
  if (!BANK.test(bank) || !service.form.test(account)) return rejected('destination_invalid')

  return found({
    scheme: 'vietqr',
    accountType: service.accountType,
    bankCode: bank,
    account,
    reference1: '',
    reference2: '',
  })
}

/** In place of a value: the app prompts the payer for one. */
const ASK_THE_PAYER = '***'

/** Reference 1 is the bill number or else the reference label; reference 2 is the purpose. */
function withReferences(destination: Destination, additionalData: Objects): Destination {
  const stated = (id: string): string => {
    const value = additionalData.get(id) ?? ''
    return value === ASK_THE_PAYER ? '' : value
  }
  return { ...destination, reference1: stated('01') || stated('05'), reference2: stated('08') }
}
