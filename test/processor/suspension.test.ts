/** What a suspended partner can no longer begin, and what goes on. */
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { actionOf } from '../../src/processor/servers/operations.js'
import { aPayout, anIntent } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  scanned,
  THAI,
  intentAt,
} from './intent_lifecycle.js'
import { executed, OPERATOR, payout, runOnBothStores, see, tryPay } from './scenarios.js'

const CONVERSION = { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'THB' }

/** A write of a suspended partner; `goesOn`: it continues or ends what has begun. */
interface Write {
  readonly message: object
  readonly goesOn?: true
}

/** What the writes below name, begun while the partner is active. */
async function begun(world: World) {
  const fresh = await beginLifecycle(world)
  const quoted = await intentAt(world, scanned)
  const open = await beginLifecycle(world)
  const quote = viewOf<{ id: string }>(await world.run(createFxQuote(DEMO, CONVERSION)))
  const paid = viewOf<{ id: string; beneficiary: { id: string } }>(await tryPay(world))
  const endpoint = viewOf<{ id: string }>(
    await world.run(
      createWebhookEndpoint(DEMO, { url: 'https://partner.test', enabled_events: ['*'] }),
    ),
  )
  return { fresh, quoted, open, quote, paid, endpoint }
}

/** An operation without a line fails the test: a new one needs a decision. */
function messagesOf({
  fresh,
  quoted,
  open,
  quote,
  paid,
  endpoint,
}: Awaited<ReturnType<typeof begun>>): Readonly<Partial<Record<OperationName, Write>>> {
  const session = { session_jti: 'token-1' }
  const { kyc_attestation, sanctions_attestation } = anIntent()
  const remint = { partner_user_id: fresh.user, kyc_attestation, sanctions_attestation }
  const scan = { qr_payload: THAI.payload, local_amount_minor_units: '36000' }
  const ended = { endpoint_id: endpoint.id }
  return {
    create_intent: { message: anIntent() },
    remint_session: { message: { ...remint, intent_id: fresh.id } },
    scan_intent: {
      message: { ...session, ...scan, intent_id: fresh.id, duplicate_confirmed: true },
    },
    confirm_intent: { message: { ...session, intent_id: quoted.id } },
    create_beneficiary: { message: { beneficiary: aPayout().beneficiary! } },
    create_payout: { message: payout() },
    create_deposit: { message: { currency: 'VND', amount: '1', idempotency_key: 'deposit' } },
    create_fx_quote: { message: CONVERSION },
    create_fx_conversion: { message: { quote_id: quote.id, idempotency_key: 'convert' } },
    cancel_intent: { message: { intent_id: open.id }, goesOn: true },
    refund_intent: { message: { intent_id: open.id }, goesOn: true },
    mint_receipt_token: { message: { intent_id: open.id }, goesOn: true },
    disable_beneficiary: { message: { beneficiary_id: paid.beneficiary.id }, goesOn: true },
    cancel_payout: { message: { payout_id: paid.id }, goesOn: true },
    simulate_payout: { message: { payout_id: paid.id, outcome: 'completed' }, goesOn: true },
    create_webhook_endpoint: { message: { url: 'https://other.test' }, goesOn: true },
    update_webhook_endpoint: { message: { ...ended, url: 'https://new.test' }, goesOn: true },
    enable_webhook_endpoint: { message: ended, goesOn: true },
    disable_webhook_endpoint: { message: ended, goesOn: true },
    rotate_webhook_secret: { message: ended, goesOn: true },
    test_webhook_endpoint: { message: ended, goesOn: true },
    recover_webhook_endpoint: { message: { ...ended, since: SINCE }, goesOn: true },
    resend_event: { message: { event_id: 'evt_1' }, goesOn: true },
    delete_webhook_endpoint: { message: ended, goesOn: true },
  }
}

const SINCE = '2026-11-20T00:00:00Z'

const suspend = async (world: World): Promise<void> =>
  void viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' })))

runOnBothStores({
  'of the writes of the partner API a suspended partner begins none': async (t, world) => {
    const refused = { ok: false, code: 'configuration_error' } as const
    const pools: WebhookPools = {
      ...{ connectedPools: 0, missingPools: [] },
      requestAll: () => Promise.resolve(refused),
      requestOne: () => Promise.resolve(refused),
    }
    const run = (name: OperationName, message: object): Promise<Answer> =>
      world.run(actionOf(name, message, { tenant: DEMO, now: world.clock.now(), pools }).command)
    const made = await begun(world)
    const messages = messagesOf(made)
    const writes = Object.entries(OPERATIONS)
      .filter(([, { method }]) => method !== 'GET')
      .map(([name]) => name as OperationName)
    t.same(Object.keys(messages).sort(), writes.sort(), 'every write has a message here')
    await suspend(world)
    for (const name of writes) {
      const { message, goesOn = false } = messages[name]!
      const code = codeOf(await run(name, message))
      if (goesOn) t.not(code, 'partner_suspended', name)
      else t.equal(code, 'partner_suspended', name)
    }
    await world.run(changePartner(OPERATOR, 'demo', { kind: 'resume' }))
    for (const name of writes) {
      const { message, goesOn = false } = messages[name]!
      if (!goesOn) t.equal(codeOf(await run(name, message)), 'ok', `${name}, resumed`)
    }
  },

  'what a suspended partner has begun goes on': async (t, world) => {
    const [open, waiting, paid] = [
      await beginLifecycle(world),
      await beginLifecycle(world),
      await beginLifecycle(world),
    ]
    await authorized(waiting)
    await captured(paid)
    const request = payout()
    const { id } = viewOf<{ id: never }>(await world.run(createPayout(DEMO, request)))
    await suspend(world)
    t.equal(codeOf(await world.run(createPayout(DEMO, request))), 'ok', 'a replay')
    t.equal(codeOf(await open.cancel()), 'ok')
    t.equal(codeOf(await waiting.remint()), 'ok', 'a session token to poll with')
    t.equal(codeOf(await paid.refund()), 'ok')
    t.equal(codeOf(await paid.get()), 'ok')
    await waiting.executed()
    t.equal((await waiting.see()).status, 'captured')
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
  },
})
