/** Clients that pay in a loop and record each payment with its expected status. */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { payByQr, payOut } from '../support/payments.js'
import { aPayout } from '../support/requests.js'
import { startLoop } from './loop.js'

export interface Payment {
  readonly key: string
  readonly id: string
  /** Expected. */
  readonly finalStatus: string
}

export interface Payers {
  /** Acknowledged payments. */
  readonly payments: readonly Payment[]
  /** Keys of payments without a response in time; they may exist. */
  readonly unanswered: readonly string[]
  /** Resolves when so many payments are acknowledged. */
  until(count: number): Promise<void>
  /** Resolves when all payments in progress are done. */
  stop(): Promise<void>
}

/** Makes one payment. @throws when it gets no response in time */
export type Pay = (key: string, payer: number) => Promise<Payment>

const PAID_WITHIN_MS = 120_000

/** @param pauseMs of a payer after each payment, so that waiting for something else costs little */
export function startPayers(count: number, pay: Pay, pauseMs = 0): Payers {
  const payments: Payment[] = []
  const unanswered: string[] = []
  const loops = Array.from({ length: count }, (_, payer) =>
    startLoop(async (number) => {
      const key = `payer ${payer} payment ${number}`
      await pay(key, payer).then(
        (payment) => payments.push(payment),
        () => unanswered.push(key),
      )
    }, pauseMs),
  )
  return {
    payments,
    unanswered,
    until: async (count) => {
      await eventually(`${count} payments`, () => payments.length >= count, PAID_WITHIN_MS)
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Suffixes of users and accounts of payouts, with the final status at the sandbox bank. */
const FINAL_STATUS = {
  '': 'captured',
  '+fail': 'failed',
  '+unknown': 'captured',
  '0123456789': 'completed',
  '9990000002': 'failed',
  '9990000005': 'reversed',
  '9990000006': 'completed',
  '9990000007': 'failed',
} as const
type Kind = keyof typeof FINAL_STATUS

const USUAL: readonly Kind[] = ['', '0123456789']

async function payAs(kind: Kind, partner: Partner, key: string): Promise<Payment> {
  const isByQr = kind === '' || kind.startsWith('+')
  const beneficiary = { ...aPayout().beneficiary, account_number: kind }
  const id = isByQr
    ? (await payByQr(partner, key, { partner_user_id: `user ${key}${kind}` })).id
    : await payOut(partner, key, { beneficiary })
  return { key, id, finalStatus: FINAL_STATUS[kind] }
}

/** Each call is repeated until its response. */
const oneOf =
  (kinds: readonly Kind[]) =>
  (partner: Partner, randomOf: (payer: number) => SeededRandom): Pay => {
    const randoms: SeededRandom[] = []
    return (key, payer) => payAs((randoms[payer] ??= randomOf(payer)).pick(kinds), partner, key)
  }

/** QR payments that are captured and payouts that complete. */
export const usualOutcome = oneOf(USUAL)
/** QR payments and payouts with every outcome; the usual ones are more frequent. */
export const everyOutcome = oneOf([
  ...USUAL.flatMap((kind) => [kind, kind, kind, kind]),
  ...(['+fail', '+unknown', '9990000002', '9990000005', '9990000006', '9990000007'] as const),
])
