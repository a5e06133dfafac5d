/** Clients that pay in a loop and record each payment with its expected status. */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { payByQr, payOut } from '../support/payments.js'
import { payeeOf } from '../support/requests.js'
import { ACCOUNTS, ENDINGS } from '../support/sandbox_outcomes.js'
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

type MakePayment = (partner: Partner, key: string) => Promise<Payment>

const byQr =
  (ending: string, finalStatus: string): MakePayment =>
  async (partner, key) => {
    const { id } = await payByQr(partner, key, { partner_user_id: `user ${key}${ending}` })
    return { key, id, finalStatus }
  }
const toAccount =
  (account: string, finalStatus: string): MakePayment =>
  async (partner, key) => {
    const id = await payOut(partner, key, { beneficiary: payeeOf(account) })
    return { key, id, finalStatus }
  }

const USUAL = [byQr(ENDINGS.usual, 'captured'), toAccount(ACCOUNTS.usual, 'completed')]
const OTHERS = [
  byQr(ENDINGS.refused, 'failed'),
  byQr(ENDINGS.unknownPaid, 'captured'),
  toAccount(ACCOUNTS.notFound, 'failed'),
  toAccount(ACCOUNTS.returned, 'reversed'),
  toAccount(ACCOUNTS.unknownPaid, 'completed'),
  toAccount(ACCOUNTS.unknownRefused, 'failed'),
]

/** Each call is repeated until its response. */
const oneOf =
  (payments: readonly MakePayment[]) =>
  (partner: Partner, randomOf: (payer: number) => SeededRandom): Pay => {
    const randoms: SeededRandom[] = []
    return (key, payer) => (randoms[payer] ??= randomOf(payer)).pick(payments)(partner, key)
  }

/** QR payments that are captured and payouts that complete. */
export const usualOutcome = oneOf(USUAL)
/** QR payments and payouts with every outcome; the usual ones are more frequent. */
export const everyOutcome = oneOf([
  ...USUAL.flatMap((usual) => [usual, usual, usual, usual]),
  ...OTHERS,
])
