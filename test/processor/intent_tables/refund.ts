/** The recall of a captured payment, and its keys. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { viewOf } from '../../support/world.js'
import { authorized, captured, scanned, waiting, type Life } from '../intent_life.js'
import {
  at,
  becomes,
  CONFLICT,
  ENDED,
  NOT_FOUND,
  refusal,
  STRANGER,
  UNKNOWN,
  type Row,
  type Table,
} from './row.js'

export const refund: Table = () => {
  const ask = (life: Life): Promise<Answer> => life.refund('a key of another intent')
  const unrefundable = refusal('payment_intent_not_refundable', 409)
  const recalled = async (life: Life): Promise<void> => {
    await captured(life)
    viewOf(await life.refund(life.id))
  }
  const { failed, refunded, cancelled, expired } = ENDED
  const keyed = (key: (life: Life) => string): Row['ask'] => {
    return (life) => life.refund(key(life))
  }
  return [
    { name: 'captured', given: captured, ask: keyed(({ id }) => id), ...becomes('captured') },
    {
      name: 'without a key',
      given: captured,
      ask: (life) => life.refund(),
      ...becomes('captured'),
    },
    { name: 'the same key', given: recalled, ask: keyed(({ id }) => id), ...becomes('captured') },
    {
      name: 'the same key, refunded',
      given: async (life) => {
        await recalled(life)
        await life.returned()
      },
      ask: keyed(({ id }) => id),
      ...becomes('refunded'),
    },
    {
      name: 'another key, when the recall was refused',
      given: async (life) => {
        await recalled(life)
        await life.recallRefused()
      },
      ask: keyed(({ id }) => `${id} again`),
      ...becomes('captured'),
    },
    {
      name: 'another key, under way',
      given: recalled,
      ask: keyed(({ id }) => `${id}+`),
      ...unrefundable,
    },
    {
      name: "another intent's key, before the state",
      given: async (life) => {
        const other = await life.another()
        await captured(other)
        viewOf(await other.refund('a key of another intent'))
      },
      ask,
      ...CONFLICT,
    },
    ...at(
      { scanned, waiting, authorized, failed, refunded, cancelled, expired },
      { ask: keyed(({ id }) => id), ...unrefundable },
    ),
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).refund('k'), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).refund('k'), ...NOT_FOUND },
  ]
}
