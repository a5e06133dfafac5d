/** When a signed request is accepted, and when one with a used key is another request. */
import t from 'tap'
import { NONCE_KEPT_MS } from '../../src/auth/nonces.js'
import { MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import type { KeyId } from '../../src/base/ids.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { actionOf } from '../../src/processor/servers/operations.js'
import { BY_TEST, codeOf, createWorld, DEMO, type World } from '../support/world.js'
import { anIntent, aPayout } from '../support/requests.js'
import { runOnBothStores } from './scenarios.js'

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

interface Keyed {
  readonly message: object
  /** Another value of each member of the body. */
  readonly others: Readonly<Record<string, unknown>>
  readonly conflict: string
}

const inline = aPayout().beneficiary!
const { kyc_attestation: kyc, sanctions_attestation: sanctions } = anIntent()

const KEYED: Partial<Readonly<Record<OperationName, Keyed>>> = {
  create_intent: {
    message: anIntent(),
    others: {
      partner_user_id: 'user-2',
      amount_usd_cents: 5_001,
      corridor: 'vn_vietqr',
      kyc_attestation: { ...kyc, method: 'passport' },
      sanctions_attestation: { ...sanctions, screened_at: '2026-11-20T00:00:01Z' },
    },
    conflict: 'idempotency_conflict',
  },
  create_payout: {
    message: aPayout(),
    others: {
      amount: '12500001',
      currency: 'USD',
      beneficiary_id: 'ben_1',
      beneficiary: { ...inline, bank_code: '970437' },
      reference: 'invoice 2',
      description: 'of May',
      metadata: { order: '1' },
    },
    conflict: 'duplicate_payout',
  },
  create_deposit: {
    message: { currency: 'VND', amount: '500' },
    others: { currency: 'USD', amount: '501' },
    conflict: 'idempotency_conflict',
  },
  create_webhook_endpoint: {
    message: { url: 'https://example.com/', enabled_events: [] },
    others: {
      url: 'https://example.com/other',
      description: 'orders',
      enabled_events: ['payout.completed'],
      // There is one, which is the default.
      api_version: undefined,
    },
    conflict: 'idempotency_conflict',
  },
}

/** Their key belongs to a token or to a quote, which is all that they name. */
const WITHOUT_TERMS = ['confirm_intent', 'create_fx_conversion']

function membersOf(name: string): string[] {
  const { content, key } = OPERATIONS[name as OperationName]
  if (content.in !== 'body' || key === undefined) return []
  return Object.keys(content.schema['properties'] ?? {})
}

const refused = { ok: false, code: 'configuration_error' } as const
const pools: WebhookPools = {
  ...{ connectedPools: 0, missingPools: [] },
  requestAll: () => Promise.resolve(refused),
  requestOne: () => Promise.resolve(refused),
}

runOnBothStores({
  'a key with another value of any member is a conflict': async (t, world: World) => {
    const keyed = Object.keys(OPERATIONS).filter((name) => membersOf(name).length > 0)
    t.same(keyed.sort(), [...Object.keys(KEYED), ...WITHOUT_TERMS].sort(), 'each has a row')
    for (const [name, { message, others, conflict }] of Object.entries(KEYED)) {
      t.same(Object.keys(others).sort(), membersOf(name).sort(), `${name}: each member has another`)
      const send = async (changed: object): Promise<string> => {
        const sent = { ...message, idempotency_key: 'k', ...changed }
        const ctx = { tenant: DEMO, now: world.clock.now(), pools }
        return codeOf(await world.run(actionOf(name as OperationName, sent, ctx).command))
      }
      t.equal(await send({}), 'ok', name)
      for (const [member, value] of Object.entries(others)) {
        if (value === undefined) continue
        t.equal(await send({ [member]: value }), conflict, `${name}: ${member}`)
      }
      t.equal(await send({}), 'ok', `${name} again`)
    }
  },
})
