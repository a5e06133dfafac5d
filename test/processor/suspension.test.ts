/** What a suspended partner can no longer begin, and what goes on. */
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { actionOf } from '../../src/processor/servers/operations.js'
import { aPayout, anIntent } from '../support/requests.js'
import { anEndpoint } from './webhook_endpoints.js'
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

/** What the writes below name, begun while the partner is active. */
async function begun(world: World) {
  const fresh = await beginLifecycle(world)
  const quoted = await intentAt(world, scanned)
  const open = await beginLifecycle(world)
  const quote = viewOf<{ id: string }>(await world.run(createFxQuote(DEMO, CONVERSION)))
  const paid = viewOf<{ id: string; beneficiary: { id: string } }>(await tryPay(world))
  const endpoint = await anEndpoint(world)
  return { fresh, quoted, open, quote, paid, endpoint }
}

type Writes = Readonly<Partial<Record<OperationName, object>>>

/** What is refused, and what goes on. An operation in neither fails the test. */
function writesOf(made: Awaited<ReturnType<typeof begun>>): { refused: Writes; goOn: Writes } {
  const { fresh, quoted, open, quote, paid } = made
  const session = { session_jti: 'token-1' }
  const { kyc_attestation, sanctions_attestation } = anIntent()
  const remint = { partner_user_id: fresh.user, kyc_attestation, sanctions_attestation }
  const scan = { qr_payload: THAI.payload, local_amount_minor_units: '36000' }
  const opened = { intent_id: open.id }
  const endpoint = { endpoint_id: made.endpoint.id }
  return {
    refused: {
      create_intent: anIntent(),
      remint_session: { ...remint, intent_id: fresh.id },
      scan_intent: { ...session, ...scan, intent_id: fresh.id, duplicate_confirmed: true },
      confirm_intent: { ...session, intent_id: quoted.id },
      create_beneficiary: { beneficiary: aPayout().beneficiary! },
      create_payout: payout(),
      create_deposit: { currency: 'VND', amount: '1', idempotency_key: 'deposit' },
      create_fx_quote: CONVERSION,
      create_fx_conversion: { quote_id: quote.id, idempotency_key: 'convert' },
    },
    goOn: {
      cancel_intent: opened,
      refund_intent: opened,
      mint_receipt_token: opened,
      disable_beneficiary: { beneficiary_id: paid.beneficiary.id },
      cancel_payout: { payout_id: paid.id },
      simulate_payout: { payout_id: paid.id, outcome: 'completed' },
      create_webhook_endpoint: { url: 'https://other.test' },
      update_webhook_endpoint: { ...endpoint, url: 'https://new.test' },
      enable_webhook_endpoint: endpoint,
      disable_webhook_endpoint: endpoint,
      rotate_webhook_secret: endpoint,
      test_webhook_endpoint: endpoint,
      recover_webhook_endpoint: { ...endpoint, since: SINCE },
      resend_event: { event_id: 'evt_1' },
      delete_webhook_endpoint: endpoint,
    },
  }
}

const SINCE = '2026-11-20T00:00:00Z'

const suspend = async (world: World): Promise<void> =>
  void viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' })))

runOnBothStores({
  'of the writes of the partner API a suspended partner begins none': async (t, world) => {
    const away = { ok: false, code: 'configuration_error' } as const
    const pools: WebhookPools = {
      ...{ connectedPools: 0, missingPools: [] },
      requestAll: () => Promise.resolve(away),
      requestOne: () => Promise.resolve(away),
    }
    const codesOf = async (messages: Writes): Promise<[name: string, code: string][]> => {
      const codes: [string, string][] = []
      for (const [name, message] of Object.entries(messages)) {
        const by = { tenant: DEMO, now: world.clock.now(), pools }
        const { command } = actionOf(name as OperationName, message, by)
        codes.push([name, codeOf(await world.run(command))])
      }
      return codes
    }
    const { refused, goOn } = writesOf(await begun(world))
    const writes = Object.entries(OPERATIONS).filter(([, { method }]) => method !== 'GET')
    const named = Object.keys({ ...refused, ...goOn })
    t.same(named.sort(), writes.map(([name]) => name).sort(), 'every write has a message here')
    await suspend(world)
    for (const [name, code] of await codesOf(refused)) t.equal(code, 'partner_suspended', name)
    for (const [name, code] of await codesOf(goOn)) t.not(code, 'partner_suspended', name)
    await world.run(changePartner(OPERATOR, 'demo', { kind: 'resume' }))
    for (const [name, code] of await codesOf(refused)) t.equal(code, 'ok', `${name}, resumed`)
  },

  'what a suspended partner has begun goes on': async (t, world) => {
    const open = await beginLifecycle(world)
    const waiting = await intentAt(world, authorized)
    const paid = await intentAt(world, captured)
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
