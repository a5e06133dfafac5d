/**
 * PromptPay: the Thai scheme.
 *
 * Owns: its application ids, tags and proxy formats. Does not own: choosing among templates
 * (destination).
 *
 * - Credit transfer in tag 29 names exactly one proxy; bill payment in tag 30 names one biller.
 * - Check digits of Thai ids are not verified: the network decides which ids exist.
 * - Applications that are not in `APPLICATIONS` are rejected. Cross-border bills (A000000677012006
 *   in tag 30) get a row when a rail can pay them.
 */
import { found, rejected, type Step } from './reasons.js'
import type { Destination, Scheme, Template } from './scheme.js'
import { walk, type Objects } from './tlv.js'

const CREDIT_TRANSFER = 'A000000677010111'
const BILL_PAYMENT = 'A000000677010112'

const APPLICATIONS = [
  { tag: '29', guid: CREDIT_TRANSFER, read: creditTransfer },
  { tag: '30', guid: BILL_PAYMENT, read: billPayment },
] as const

export const promptpay: Scheme = {
  guids: new Set([
    CREDIT_TRANSFER,
    BILL_PAYMENT,
    'A000000677010113', // acquirers' own data, often beside a bill payment
    'A000000677010114', // shown by the payer, not by the merchant
    'A000000677012004', // acquirers' own data
    'A000000677012006', // bill payment across borders
  ]),
  tags: new Set(['29', '30']),
  destinationOf,
  withReferences: (destination) => destination,
}

function destinationOf({ tag, guid, text }: Template): Step<Destination> {
  const application = APPLICATIONS.find((known) => known.tag === tag && known.guid === guid)
  if (application === undefined) return rejected('scheme_unsupported')
  const walked = walk(text)
  return walked.ok ? application.read(walked.value.objects) : walked
}

const PROXIES = [
  { tag: '01', accountType: 'mobile', form: /^0066[0-9]{9}$/ },
  { tag: '02', accountType: 'national_id', form: /^[0-9]{13}$/ },
  { tag: '03', accountType: 'ewallet', form: /^[0-9]{15}$/ },
  { tag: '04', accountType: 'bank_account', form: /^[0-9]{4,43}$/ },
] as const

/** A bank account proxy is the bank's three digits followed by the account. */
const BANK_CODE_LENGTH = 3

function creditTransfer(objects: Objects): Step<Destination> {
  const [proxy, second] = PROXIES.filter(({ tag }) => objects.has(tag))
  if (proxy === undefined) return rejected('destination_invalid')
  if (second !== undefined) return rejected('destination_ambiguous')
  const value = objects.get(proxy.tag) ?? ''
  if (!proxy.form.test(value)) return rejected('destination_invalid')

  const cut = proxy.accountType === 'bank_account' ? BANK_CODE_LENGTH : 0
  return found({
    scheme: 'promptpay',
    accountType: proxy.accountType,
    bankCode: value.slice(0, cut),
    account: value.slice(cut),
    reference1: '',
    reference2: '',
  })
}

const BILLER = /^[0-9]{15}$/
const REFERENCE = /^[\x20-\x7e]{1,20}$/

function billPayment(objects: Objects): Step<Destination> {
  const biller = objects.get('01') ?? ''
  const reference1 = objects.get('02') ?? ''
  const reference2 = objects.get('03') ?? ''
  if (!BILLER.test(biller) || !REFERENCE.test(reference1)) return rejected('destination_invalid')
  if (reference2 !== '' && !REFERENCE.test(reference2)) return rejected('destination_invalid')

  return found({
    scheme: 'promptpay',
    accountType: 'biller',
    bankCode: '',
    account: biller,
    reference1,
    reference2,
  })
}
