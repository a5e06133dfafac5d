/** When a processor accepts a signed request, whatever its gateway's clock says. */
import t from 'tap'
import { NONCE_KEPT_MS } from '../../src/auth/nonces.js'
import { MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import type { KeyId } from '../../src/base/ids.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { BY_TEST, codeOf, createWorld, DEMO, type World } from '../support/world.js'

const ACCEPTED = 'payment_intent_not_found'
const REFUSED = 'authentication_failed'

/**
 * @param signedAt null means that the gateway is of an older version
 * @returns the code of a request with this nonce
 */
const send = (world: World, nonce: number, signedAt: Instant | null): Promise<string> =>
  new Promise((resolve) => {
    world.submit({
      ...{ queueKey: DEMO, command: getIntent(DEMO, 'pi_none'), origin: BY_TEST, deadline: null },
      signedBy: {
        ...{ keyId: 'demo_sandbox_2026q4' as KeyId, nonce: Buffer.alloc(32, nonce) },
        signedAt,
      },
      reply: (answer) => resolve(codeOf(answer)),
    })
  })

t.test('a request is refused outside of the time that its nonce is kept', async (t) => {
  const world = await createWorld(t)
  const startedAt = world.clock.now()
  const within = NONCE_KEPT_MS / 2
  t.equal(await send(world, 1, plus(startedAt, -within - 1)), REFUSED, 'of a slow gateway')
  t.equal(await send(world, 1, plus(startedAt, within + 1)), REFUSED, 'of a fast one')
  t.equal(await send(world, 1, plus(startedAt, -within)), ACCEPTED, 'its nonce was not consumed')
  const latest = plus(startedAt, within)
  t.equal(await send(world, 2, latest), ACCEPTED)
  world.clock.pass(NONCE_KEPT_MS)
  t.equal(await send(world, 2, latest), REFUSED, 'within its time it is a replay')

  const until = plus(world.clock.now(), NONCE_KEPT_MS + MINUTE)
  for (let nonce = 100; world.clock.now() < until; nonce += 1) {
    world.clock.pass(10 * SECOND)
    t.equal(await send(world, nonce, world.clock.now()), ACCEPTED)
  }
  t.equal(await send(world, 2, latest), REFUSED, 'a slow gateway lets it in again')
  t.equal(await send(world, 2, null), ACCEPTED, 'its nonce is forgotten')
})

t.test('books that are ahead refuse no request', async (t) => {
  const world = await createWorld(t, { isMachineClock: true })
  const ahead = world.clock.now()
  t.equal(await send(world, 1, ahead), ACCEPTED)
  world.clock.set(plus(ahead, -10 * MINUTE))
  t.equal(await send(world, 2, world.clock.now()), ACCEPTED)
  t.equal(await send(world, 3, ahead), REFUSED)
})
