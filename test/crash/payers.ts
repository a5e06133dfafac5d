/** Clients that make QR payments and payouts in a loop and record each with its expected status. */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { Partner } from '../support/partner.js'
import { payByQr, payOut } from '../support/payments.js'
import { aPayout } from '../support/requests.js'

export interface Payment {
  readonly id: string
  /** Expected. */
  readonly finalStatus: string
}

export interface Payers {
  /** Acknowledged payments. */
  readonly payments: readonly Payment[]
  /** Number of payments without a response for 30 seconds; they may exist. */
  gaveUp(): number
  /** Resolves when all payments in progress are done. */
  stop(): Promise<void>
}

/** Suffixes of users, with the final status at the sandbox bank. */
const BY_QR = { '': 'captured', '+fail': 'failed', '+unknown': 'captured' } as const
const ACCOUNTS = {
  '0123456789': 'completed',
  '9990000002': 'failed',
  '9990000005': 'reversed',
  '9990000006': 'completed',
  '9990000007': 'failed',
} as const

type Method = (key: string) => Promise<Payment>

export function startPayers(
  partner: Partner,
  count: number,
  randomOf: (payer: number) => SeededRandom,
): Payers {
  const payments: Payment[] = []
  let gaveUp = 0
  let stopping = false

  const byQr =
    (ending: keyof typeof BY_QR): Method =>
    async (key) => {
      const over = { partner_user_id: `user ${key}${ending}` }
      const { id } = await payByQr(partner, key, over)
      return { id, finalStatus: BY_QR[ending] }
    }
  const out =
    (account_number: keyof typeof ACCOUNTS): Method =>
    async (key) => {
      const beneficiary = { ...aPayout().beneficiary, account_number }
      return {
        id: await payOut(partner, key, { beneficiary }),
        finalStatus: ACCOUNTS[account_number],
      }
    }
  /** The usual outcomes are more frequent. */
  const methods: readonly Method[] = [
    ...Array.from({ length: 4 }, () => byQr('')),
    ...Array.from({ length: 4 }, () => out('0123456789')),
    byQr('+fail'),
    byQr('+unknown'),
    out('9990000002'),
    out('9990000005'),
    out('9990000006'),
    out('9990000007'),
  ]

  const pay = async (payer: number): Promise<void> => {
    const random = randomOf(payer)
    for (let number = 1; !stopping; number++) {
      try {
        payments.push(await random.pick(methods)(`payer ${payer}, payment ${number}`))
      } catch {
        gaveUp += 1
      }
    }
  }
  const all = Promise.all(Array.from({ length: count }, (_, payer) => pay(payer)))
  return {
    payments,
    gaveUp: () => gaveUp,
    stop: async () => {
      stopping = true
      await all
    },
  }
}
