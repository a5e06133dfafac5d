/**
 * The lifecycles of an intent, each run twice: with its actor in memory, and with the actor
 * restored from SQLite before every command.
 */
import { createHash } from 'node:crypto'
import { HOUR } from '../../src/base/clock.js'
import { REMINTS_KEPT } from '../../src/base/constants.js'
import type { Remint } from '../../actors/intent/context.js'
import type { RailReport } from '../../src/rails/rail.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { getReceipt } from '../../src/processor/commands/intents/intent_receipt.js'
import { anIntent } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  INTENT_TTL,
  intentAt,
  QUOTE_TTL,
  scanned,
  THAI,
  type Intent,
  type Lifecycle,
} from './intent_lifecycle.js'
import { balanceOf, executed, runOnBothStores, types, type Scenario } from './scenarios.js'

const KNOWING = { duplicate_confirmed: true }

/** An execution report of a payment of 360 baht. */
const paid = ({ id }: Lifecycle, over: object = {}): RailReport => {
  const { currency, account: destinationAccount } = THAI
  return executed(id as never, { amount: 36_000n, currency, destinationAccount, ...over })
}

const kinds = ({ railInstructions }: World): string[] => railInstructions.map(({ kind }) => kind)

const scenarios: Record<string, Scenario> = {
  captured: async (t, world) => {
    const intent = await beginLifecycle(world)
    t.equal((await intent.see()).status, 'created')
    t.equal(codeOf(await intent.scan()), 'ok')
    t.match(viewOf(await intent.confirm({ idempotency_key: 'key' })), { status: 'authorized' })
    t.same(kinds(world), ['instruct'], 'the instruction leaves once, after the commit')
    await world.railReports(paid(intent))
    t.match(await intent.see(), { status: 'captured' })
    t.same(kinds(world), ['instruct', 'acknowledge'])
    await world.railReports(paid(intent))
    t.same(types(world), ['payment_intent.authorized', 'payment_intent.captured'])
  },

  'an intent that the rail refuses fails': async (t, world) => {
    const before = await balanceOf(world, 'USD')
    const intent = await intentAt(world, authorized)
    t.not((await balanceOf(world, 'USD')).reserved, '0')
    await world.railReports({
      status: 'refused',
      id: intent.id,
      reportId: 'r',
      refusal: 'account_closed',
    })
    t.same(await balanceOf(world, 'USD'), before, 'the money is released')
    t.match(await intent.see(), { status: 'failed', failure: { code: 'account_closed' } })
    t.same(types(world), ['payment_intent.authorized', 'payment_intent.failed'])
  },

  expired: async (t, world) => {
    const intent = await beginLifecycle(world)
    world.clock.pass(INTENT_TTL)
    t.equal(codeOf(await intent.scan()), 'payment_intent_not_scannable')
    await world.fireTimers()
    t.match(await intent.see(), { status: 'expired' })
    t.equal(codeOf(await intent.confirm()), 'payment_intent_not_confirmable')
    t.same(types(world), ['payment_intent.expired'])
  },

  cancelled: async (t, world) => {
    const intent = await beginLifecycle(world)
    t.match(viewOf(await intent.cancel()), { status: 'cancelled' })
    t.equal(codeOf(await intent.cancel()), 'payment_intent_not_cancelable')
    t.same(types(world), ['payment_intent.cancelled'])
  },

  'an intent is cancelled before its submission': async (t, world) => {
    world.setRail(false)
    const intent = await intentAt(world, authorized)
    t.same(world.railInstructions, [])
    t.match(viewOf(await intent.cancel()), { status: 'cancelled' })
  },

  'an intent cannot be cancelled after its submission': async (t, world) => {
    const intent = await intentAt(world, authorized)
    t.equal(codeOf(await intent.cancel()), 'payment_intent_not_cancelable')
  },

  'an instruction is submitted when the rail is up again': async (t, world) => {
    world.setRail(false)
    await intentAt(world, authorized)
    await world.fireTimers()
    t.same(world.railInstructions, [], 'nothing is sent while the rail is down')
    world.setRail(true)
    await world.fireTimers(1_000)
    t.same(kinds(world), ['instruct'])
  },

  'an instruction that is never submitted fails': async (t, world) => {
    world.setRail(false)
    const intent = await intentAt(world, authorized)
    await world.fireTimers(60_000)
    t.match(await intent.see(), { status: 'failed', failure: { code: 'rail_unavailable' } })
    t.same(world.railInstructions, [], 'an instruction past its deadline is never sent')
  },

  'an unknown outcome is captured when the rail reports the execution': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.fireTimers(4_999)
    t.same(kinds(world), ['instruct'])
    await world.fireTimers(1)
    t.same(kinds(world), ['instruct', 'query'])
    t.match(
      await intent.see(),
      { status: 'authorized' },
      'without an answer the intent stays authorized',
    )
    await world.railReports(paid(intent, { reportId: null }))
    t.match(await intent.see(), { status: 'captured' })
  },

  'an unknown outcome is resubmitted when the rail has no record of it': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.railReports({ status: 'not_found', id: intent.id, reportId: null })
    t.same(kinds(world), ['instruct', 'instruct'], 'the same instruction again')
    t.same(world.railInstructions[0], world.railInstructions[1])
  },

  'a payment returned by the bank is refunded': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.railReports(paid(intent, { status: 'returned' }))
    t.match(
      await intent.see(),
      { status: 'refunded' },
      'a return may be reported before the execution',
    )
    t.same(types(world), [
      'payment_intent.authorized',
      'payment_intent.captured',
      'payment_intent.refunded',
    ])
  },

  'a refund is requested and completed': async (t, world) => {
    const intent = await intentAt(world, scanned)
    t.equal(codeOf(await intent.refund('r1')), 'payment_intent_not_refundable')
    await intent.confirm()
    await world.railReports(paid(intent))
    const first = viewOf(await intent.refund('r1'))
    t.match(first, { status: 'captured', refund: { status: 'requested', amount_usd_cents: 1_000 } })
    t.same(viewOf(await intent.refund('r1')), first, 'same key: the same answer')
    t.equal(codeOf(await intent.refund('r2')), 'payment_intent_not_refundable')
    t.same(kinds(world), ['instruct', 'acknowledge', 'recall'])
    await world.fireTimers(5_000)
    t.equal(world.railInstructions.at(-1)?.kind, 'recall', 'requested again')
    await world.railReports(paid(intent, { status: 'returned', reportId: 'back' }))
    t.match(await intent.see(), { status: 'refunded', refund: { status: 'done' } })
    t.same(viewOf(await intent.refund('r1')), first)
  },

  'refund refused by the rail': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.railReports(paid(intent))
    await intent.refund('r1')
    await world.railReports({ status: 'recall_refused', id: intent.id, reportId: 'no' })
    t.match(await intent.see(), { status: 'captured', refund: { status: 'refused' } })
    t.equal(codeOf(await intent.refund('r2')), 'ok', 'a refund can be requested again')
  },

  'a refund after its deadline is refused': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.railReports(paid(intent))
    world.clock.pass(90 * 24 * HOUR)
    t.equal(codeOf(await intent.refund('r1')), 'payment_intent_not_refundable')
  },

  'a receipt exists from authorization on': async (t, world) => {
    const intent = await beginLifecycle(world, { user: 'maria' })
    const receipt = async (): Promise<object> => viewOf(await intent.receipt())
    t.match(await receipt(), { status: 'pending', local_amount: '0', merchant_name: '' })
    await intent.scan('36050')
    await intent.confirm()
    t.match(await receipt(), {
      status: 'pending',
      amount_usd_cents: 1_002,
      local_amount: '360',
      local_amount_minor_units: '36050',
      destination_masked: '****5678',
    })
    await world.railReports(paid(intent, { amount: 36_050n }))
    t.match(await receipt(), { status: 'captured', captured_at: /Z$/ })
    await world.railReports(paid(intent, { amount: 36_050n, status: 'returned', reportId: 'back' }))
    const last = await receipt()
    t.match(last, { status: 'refunded', refund: { amount_usd_cents: 1_002, refunded_at: /Z$/ } })
    t.notOk('captured_at' in last)
    t.equal(codeOf(await intent.receipt('other')), 'payment_intent_not_found')
    const bare = createHash('sha256').update(JSON.stringify('maria')).digest('base64url')
    const guess = await world.run(getReceipt(DEMO, intent.id, bare))
    t.equal(codeOf(guess), 'payment_intent_not_found', 'an unkeyed digest is not a valid subject')
  },

  're-minted tokens': async (t, world) => {
    const intent = await beginLifecycle(world)
    const { id, remint } = intent
    const kept = (): readonly Remint[] => world.memory().intents.get(id)?.context.remints ?? []
    t.match(viewOf(await remint()), { intent_id: id, session_token: /^ey/ })
    const { kyc_attestation, sanctions_attestation } = anIntent()
    const attestations = JSON.stringify([kyc_attestation, sanctions_attestation])
    t.match(kept(), [{ at: world.clock.now(), jti: /^.{22}$/, attestations }])
    t.equal(codeOf(await remint({ partner_user_id: 'other' })), 'user_mismatch')
    t.equal(codeOf(await remint({ intent_id: 'pi_none' })), 'payment_intent_not_found')
    await intent.see()
    t.equal(kept().length, 1, 'a refused re-mint stores nothing')
    world.clock.pass(1_000)
    const again = { ...kyc_attestation, verified: true, method: 'second screening' }
    t.equal(codeOf(await remint({ kyc_attestation: again })), 'ok')
    await world.rebuild()
    await intent.see()
    t.equal(kept().length, 2)
    t.match(kept()[1], { at: world.clock.now(), attestations: /second screening/ })
    for (let i = 0; i < REMINTS_KEPT; i++) await remint()
    t.equal(kept().length, REMINTS_KEPT, 'the latest are kept')
    t.notOk(kept().some((one) => one.attestations.includes('second screening')))
    await intent.scan()
    await intent.confirm()
    t.equal(codeOf(await remint()), 'ok', 'an authorized intent can be re-minted')
    t.equal(kept().at(-1)?.attestations, attestations)
    t.same(types(world), ['payment_intent.authorized'], 'no event is published')
    await world.railReports(paid(intent))
    t.equal(codeOf(await remint()), 'payment_intent_terminal')
  },

  'a report that contradicts the intent is a discrepancy': async (t, world) => {
    const intent = await intentAt(world, authorized)
    await world.railReports(paid(intent, { amount: 35_999n }))
    await world.railReports(paid(intent, { currency: 'VND' }))
    await world.railReports(paid(intent, { destinationAccount: '0066899999999' }))
    t.match(await intent.see(), { status: 'authorized' }, 'never a transition')
  },

  'a second confirm is replayed or rejected': async (t, world) => {
    const intent = await intentAt(world, scanned)
    const first = await intent.confirm({ idempotency_key: 'key' })
    t.same(
      viewOf(await intent.confirm({ idempotency_key: 'key' })),
      viewOf(first),
      'same key: the same answer',
    )
    t.same(
      viewOf(await intent.confirm({ idempotency_key: 'key', session_jti: 'token-2' })),
      viewOf(first),
      're-minted token',
    )
    t.equal(codeOf(await intent.confirm({ idempotency_key: 'other' })), 'authentication_failed')
    t.equal(codeOf(await intent.confirm()), 'authentication_failed')
    t.equal(
      codeOf(await intent.confirm({ idempotency_key: 'other', session_jti: 'token-2' })),
      'already_confirmed',
    )
    t.same(kinds(world), ['instruct'])
  },

  'concurrent confirms in one batch confirm once': async (t, world) => {
    const intent = await intentAt(world, scanned)
    const answers = await world.runAll([
      intent.calls.confirm({ idempotency_key: 'key' }),
      intent.calls.confirm({ idempotency_key: 'key' }),
      intent.calls.confirm({ idempotency_key: 'other' }),
    ])
    t.same(answers.map(codeOf), ['ok', 'ok', 'authentication_failed'])
    t.same(kinds(world), ['instruct'])
  },

  'two creates with one key create one intent': async (t, world) => {
    const request = anIntent({ idempotency_key: 'k' })
    const [one, other] = await world.runAll([
      createIntent(DEMO, request),
      createIntent(DEMO, request),
    ])
    t.same(viewOf(other!), viewOf(one!), 'concurrent creates of one batch get one intent')
    await world.fireTimers(INTENT_TTL)
    const replayed = await world.run(createIntent(DEMO, request))
    t.equal(JSON.stringify(viewOf(replayed)), JSON.stringify(viewOf(one!)), 'in any state')
    const { intent_id: id } = viewOf<Intent>(one!)
    t.match(viewOf(await world.run(getIntent(DEMO, id))), { status: 'expired' })
    const changed = createIntent(DEMO, { ...request, amount_usd_cents: 5_001 })
    t.equal(codeOf(await world.run(changed)), 'idempotency_conflict')
  },

  'a duplicate payment needs an acknowledgment at its scan': async (t, world) => {
    const first = await intentAt(world, authorized)
    const second = await first.another()
    t.equal(codeOf(await second.scan()), 'duplicate_scan')
    t.equal(codeOf(await second.scan('36001')), 'ok', 'another amount is not a duplicate')
    t.equal(codeOf(await second.scan('36000', KNOWING)), 'ok')
    t.equal(codeOf(await second.confirm()), 'ok')
    world.clock.pass(60_000)
    const third = await first.another()
    t.equal(codeOf(await third.scan()), 'ok', 'the window is over')
  },

  'a scan that becomes a duplicate is rejected at its confirm': async (t, world) => {
    const first = await intentAt(world, scanned)
    const second = await first.another()
    await second.scan()
    t.equal(codeOf(await first.confirm()), 'ok')
    t.equal(codeOf(await second.confirm()), 'duplicate_scan')
  },

  'an expired quote is rejected': async (t, world) => {
    const intent = await beginLifecycle(world)
    t.equal(codeOf(await intent.confirm()), 'quote_required')
    await intent.scan()
    world.clock.pass(QUOTE_TTL)
    t.equal(codeOf(await intent.confirm()), 'quote_expired')
    t.equal(codeOf(await intent.scan()), 'ok')
    t.match(viewOf(await intent.confirm()), { quote: { quote_version: 2 } })
  },

  'a quote of a clock that was ahead has expired once it is right': async (t, world) => {
    const right = world.clock.now()
    world.clock.pass(7 * HOUR)
    const intent = await beginLifecycle(world)
    await intent.scan()
    world.clock.set(right)
    t.equal(codeOf(await intent.confirm()), 'quote_expired')
    await intent.scan()
    t.equal(codeOf(await intent.confirm()), 'ok')
  },

  'the limits of a payment and of a day': async (t, world) => {
    const user = await beginLifecycle(world)
    const pay = async (amount: string): Promise<string> => {
      const intent = await user.another()
      const scan = codeOf(await intent.scan(amount, KNOWING))
      return scan === 'ok' ? codeOf(await intent.confirm()) : scan
    }
    t.equal(await pay('5000001'), 'user_limit_exceeded', 'a transaction')
    for (let i = 0; i < 4; i++) t.equal(await pay('5000000'), 'ok')
    t.equal(await pay('100'), 'user_limit_exceeded', 'a day')
    world.clock.pass(24 * HOUR)
    t.equal(await pay('100'), 'ok', 'the next day')
  },

  'a failure releases the limits': async (t, world) => {
    const intent = await beginLifecycle(world)
    await intent.scan('5000000')
    await intent.confirm()
    await world.railReports({
      status: 'refused',
      id: intent.id,
      reportId: 'r',
      refusal: 'rejected',
    })
    for (let i = 0; i < 4; i++) {
      const next = await intent.another()
      await next.scan('5000000', KNOWING)
      t.equal(codeOf(await next.confirm()), 'ok')
    }
  },
}

runOnBothStores(scenarios, async (t, world) => {
  const sequences = world.events.map(({ sequence }) => sequence)
  const expected = [...sequences.keys()].map((index) => index + 1)
  t.same(sequences, expected, 'no gap in the sequence')
})
