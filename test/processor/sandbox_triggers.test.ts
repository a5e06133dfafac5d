/** What partners trigger in the sandbox has no effect in production. */
import t from 'tap'
import type { IntentId } from '../../src/base/ids.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { anIntent } from '../support/requests.js'
import { createWorld, DEMO, RULES, viewOf, PRODUCTION } from '../support/world.js'

t.test('an intent with +expire ends after five seconds, in the sandbox only', async (t) => {
  const world = await createWorld(t)
  const ttlOf = async (tenant: typeof DEMO, user: string): Promise<number> => {
    const request = { ...anIntent(), partner_user_id: user }
    const answer = await world.run(createIntent(tenant, request))
    const { intent_id: id } = viewOf<{ intent_id: IntentId }>(answer)
    const { createdAt, expiresAt } = world.memory().intents.get(id)!.context
    return expiresAt - createdAt
  }
  t.equal(await ttlOf(DEMO, 'user+expire'), 5_000)
  t.equal(await ttlOf(DEMO, 'user+expire+slow'), RULES.intentTtlMs)
  t.equal(await ttlOf(PRODUCTION, 'user+expire'), RULES.intentTtlMs)
})
