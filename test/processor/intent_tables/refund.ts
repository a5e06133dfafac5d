/** Refunds of a captured payment, and their idempotency keys. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { viewOf } from '../../support/world.js'
import { authorized, captured, scanned, waiting, type Lifecycle } from '../intent_lifecycle.js'
import {
  at,
  becomes,
  CONFLICT,
  ENDED,
  NOT_FOUND,
  refusal,
  OTHER_TENANT,
  UNKNOWN,
  type Row,
  type Table,
} from './row.js'

export const refund: Table = () => {
  const request = (lifecycle: Lifecycle): Promise<Answer> =>
    lifecycle.refund('a key of another intent')
  const unrefundable = refusal('payment_intent_not_refundable', 409)
  const recalled = async (lifecycle: Lifecycle): Promise<void> => {
    await captured(lifecycle)
    viewOf(await lifecycle.refund(lifecycle.id))
  }
  const { failed, refunded, cancelled, expired } = ENDED
  const keyed = (key: (lifecycle: Lifecycle) => string): Row['request'] => {
    return (lifecycle) => lifecycle.refund(key(lifecycle))
  }
  return [
    { name: 'captured', given: captured, request: keyed(({ id }) => id), ...becomes('captured') },
    {
      name: 'without a key',
      given: captured,
      request: (lifecycle) => lifecycle.refund(),
      ...becomes('captured'),
    },
    {
      name: 'the same key',
      given: recalled,
      request: keyed(({ id }) => id),
      ...becomes('captured'),
    },
    {
      name: 'the same key, refunded',
      given: async (lifecycle) => {
        await recalled(lifecycle)
        await lifecycle.returned()
      },
      request: keyed(({ id }) => id),
      ...becomes('refunded'),
    },
    {
      name: 'another key, when the recall was refused',
      given: async (lifecycle) => {
        await recalled(lifecycle)
        await lifecycle.recallRefused()
      },
      request: keyed(({ id }) => `${id} again`),
      ...becomes('captured'),
    },
    {
      name: 'another key, under way',
      given: recalled,
      request: keyed(({ id }) => `${id}+`),
      ...unrefundable,
    },
    {
      name: "another intent's key, before the state",
      given: async (lifecycle) => {
        const other = await lifecycle.another()
        await captured(other)
        viewOf(await other.refund('a key of another intent'))
      },
      request,
      ...CONFLICT,
    },
    ...at(
      { scanned, waiting, authorized, failed, refunded, cancelled, expired },
      { request: keyed(({ id }) => id), ...unrefundable },
    ),
    { name: 'unknown', request: (lifecycle) => lifecycle.as(UNKNOWN).refund('k'), ...NOT_FOUND },
    {
      name: "another tenant's",
      request: (lifecycle) => lifecycle.as(OTHER_TENANT).refund('k'),
      ...NOT_FOUND,
    },
  ]
}
