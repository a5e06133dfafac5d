/** Payments by QR code and payouts, and the events that every receiver must get of them. */
import { MINUTE } from '../../src/base/clock.js'
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { payByQr, payOut } from '../support/payments.js'
import type { TestReceiver } from '../support/receiver.js'

const OF_A_PAYOUT = ['payout.completed', 'payout.created', 'payout.processing']
const OF_AN_INTENT = ['payment_intent.captured']

interface Event {
  readonly type: string
  readonly data: {
    readonly payout?: { readonly id: string }
    readonly payment_intent?: { readonly intent_id: string }
  }
}

/** Makes a payout and a payment, and adds their events to `expected`, as `entity type`. */
export async function payBoth(
  partner: Partner,
  key: string,
  expected: Set<string>,
): Promise<readonly [payout: string, intent: string]> {
  const [payout, { id }] = await Promise.all([payOut(partner, key), payByQr(partner, key)])
  for (const type of OF_A_PAYOUT) expected.add(`${payout} ${type}`)
  for (const type of OF_AN_INTENT) expected.add(`${id} ${type}`)
  return [payout, id]
}

/** As `entity type`. */
export const receivedBy = ({ events }: TestReceiver): Set<string> =>
  new Set(
    [...events.values()].map(({ body }) => {
      const { type, data } = JSON.parse(body.toString()) as Event
      return `${data.payout?.id ?? data.payment_intent?.intent_id} ${type}`
    }),
  )

/** What a pool had not acknowledged before it ended is sent again by the bus, and asked about. */
export const untilReceived = (receiver: TestReceiver, expected: Set<string>): Promise<boolean> =>
  eventually(
    'all events arrive',
    () => {
      const received = receivedBy(receiver)
      return [...expected].every((each) => received.has(each))
    },
    MINUTE,
  )
