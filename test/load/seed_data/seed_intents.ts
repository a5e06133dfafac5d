/** Historical intents: captured, expired, cancelled, failed, refunded; and open ones. */
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

export type SeedIntents = ReturnType<typeof createSeedIntents>
type Outcome = 'captured' | 'expired' | 'cancelled' | 'failed' | 'refunded'

const USERS = 5_000
const AMOUNT = 10_000
const JTI = 'token'

/** Of a hundred: 60 captured, 28 expired, 6 cancelled, 3 failed, 3 refunded. */
function outcomeOf(index: number): Outcome {
  const place = index % 100
  if (place < 60) return 'captured'
  if (place < 88) return 'expired'
  if (place < 94) return 'cancelled'
  return place < 97 ? 'failed' : 'refunded'
}

export function createSeedIntents(world: World, rail: SeedRail) {
  const ids: IntentId[] = []
  const qr = promptPayQr()

  const create = async (count: number): Promise<readonly IntentId[]> => {
    const first = ids.length
    const commands = Array.from({ length: count }, (_, place) => {
      const index = first + place
      const fails = outcomeOf(index) === 'failed' ? '+fail' : ''
      const given = { partner_user_id: `user-${index % USERS}${fails}` }
      return createIntent(DEMO, anIntent({ ...given, idempotency_key: `seed-${index}` }))
    })
    const answers = await world.runAll(commands)
    const made = answers.map((answer) => viewOf<{ intent_id: IntentId }>(answer).intent_id)
    ids.push(...made)
    return made
  }
  const runAll = async (commands: readonly Command[]): Promise<void> => {
    for (const answer of await world.runAll(commands)) viewOf(answer)
    world.clock.pass(SECOND)
  }
  const scan = (id: IntentId, index: number): Command => {
    const amount = String(AMOUNT + (Math.floor(index / USERS) % 10_000))
    const scanned = { qr_payload: qr, local_amount_minor_units: amount, duplicate_confirmed: false }
    return scanIntent(DEMO, { intent_id: id, session_jti: JTI, ...scanned }, world.clock.now())
  }
  const confirm = (id: IntentId): Command => {
    const given = { intent_id: id, session_jti: JTI, idempotency_key: `confirm ${id}` }
    return confirmIntent(DEMO, given, world.clock.now())
  }
  return {
    ids,
    writeEnded: async (count: number): Promise<void> => {
      const first = ids.length
      const made = (await create(count)).map((id, place) => {
        const index = first + place
        return { id, index, outcome: outcomeOf(index) }
      })
      const atRail = ['captured', 'failed', 'refunded']
      const confirmed = made.filter(({ outcome }) => atRail.includes(outcome))
      const of = (outcome: Outcome): readonly IntentId[] =>
        made.filter((one) => one.outcome === outcome).map(({ id }) => id)
      await runAll(confirmed.map(({ id, index }) => scan(id, index)))
      await runAll(confirmed.map(({ id }) => confirm(id)))
      await rail.settle()
      await runAll(of('cancelled').map((id) => cancelIntent(DEMO, id)))
      await runAll(of('refunded').map((id) => refundIntent(DEMO, id, `refund ${id}`)))
      await rail.settle()
      world.clock.pass(31 * MINUTE)
      await runAll(of('expired').map((id) => fireIntentTimer(id)))
    },
    /** Created, and not confirmed yet. */
    writeOpen: async (count: number): Promise<void> => void (await create(count)),
  }
}
