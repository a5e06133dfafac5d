/**
 * Intents of a past: captured, expired, cancelled, refused by the rail, refunded; and live ones.
 */
import { MINUTE, SECOND } from '../../../src/base/clock.js'
import type { IntentId } from '../../../src/base/ids.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { cancelIntent } from '../../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../../src/processor/commands/intents/intent_create.js'
import { refundIntent } from '../../../src/processor/commands/intents/intent_refund.js'
import { scanIntent } from '../../../src/processor/commands/intents/intent_scan.js'
import { fireIntentTimer } from '../../../src/processor/commands/rail_reports/timer_fire.js'
import { anIntent, promptPayQr } from '../../support/requests.js'
import { DEMO, viewOf, type World } from '../../support/world.js'
import type { SeedRail } from './seed_rail.js'

export interface SeedIntents {
  readonly ids: readonly IntentId[]
  live(count: number): Promise<void>
  /** Created, and not confirmed yet. */
  leaveOpen(count: number): Promise<void>
}

type SeedState = 'captured' | 'expired' | 'cancelled' | 'failed' | 'refunded'

const USERS = 5_000
const AMOUNT = 10_000
const JTI = 'token'

/** Of a hundred. */
function seedStateOf(index: number): SeedState {
  const place = index % 100
  if (place < 60) return 'captured'
  if (place < 88) return 'expired'
  if (place < 94) return 'cancelled'
  return place < 97 ? 'failed' : 'refunded'
}

export function createSeedIntents(world: World, rail: SeedRail): SeedIntents {
  const ids: IntentId[] = []
  const qr = promptPayQr()

  const create = async (count: number): Promise<readonly IntentId[]> => {
    const first = ids.length
    const commands = Array.from({ length: count }, (_, place) => {
      const index = first + place
      const ending = seedStateOf(index) === 'failed' ? '+fail' : ''
      const user = `user-${index % USERS}${ending}`
      return createIntent(
        DEMO,
        anIntent({ partner_user_id: user, idempotency_key: `seed-${index}` }),
      )
    })
    const answers = await world.runAll(commands)
    const made = answers.map((answer) => viewOf<{ intent_id: IntentId }>(answer).intent_id)
    ids.push(...made)
    return made
  }
  const all = async (commands: readonly Command[]): Promise<void> => {
    for (const answer of await world.runAll(commands)) viewOf(answer)
    world.clock.pass(SECOND)
  }
  const scan = (id: IntentId, index: number): Command => {
    const amount = String(AMOUNT + (Math.floor(index / USERS) % 10_000))
    const bound = { qr_payload: qr, local_amount_minor_units: amount, duplicate_confirmed: false }
    return scanIntent(DEMO, { intent_id: id, session_jti: JTI, ...bound }, world.clock.now())
  }
  const confirm = (id: IntentId): Command =>
    confirmIntent(
      DEMO,
      { intent_id: id, session_jti: JTI, idempotency_key: `confirm ${id}` },
      world.clock.now(),
    )

  return {
    ids,
    live: async (count) => {
      const first = ids.length
      const made = (await create(count)).map((id, place) => ({
        id,
        index: first + place,
        life: seedStateOf(first + place),
      }))
      const paid = made.filter(({ life }) => ['captured', 'failed', 'refunded'].includes(life))
      const of = (life: SeedState): readonly IntentId[] =>
        made.filter((one) => one.life === life).map(({ id }) => id)
      await all(paid.map(({ id, index }) => scan(id, index)))
      await all(paid.map(({ id }) => confirm(id)))
      await rail.settle()
      await all(of('cancelled').map((id) => cancelIntent(DEMO, id)))
      await all(of('refunded').map((id) => refundIntent(DEMO, id, `refund ${id}`)))
      await rail.settle()
      world.clock.pass(31 * MINUTE)
      await all(of('expired').map((id) => fireIntentTimer(id)))
    },
    leaveOpen: async (count) => {
      await create(count)
    },
  }
}
