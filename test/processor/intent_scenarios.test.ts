/**
 * The lifecycles of an intent, each run twice: with its actor in memory, and with the actor
 * restored from SQLite before every command.
 */
import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { HOUR } from '../../src/base/clock.js'
import { REMINTS_KEPT } from '../../src/base/constants.js'
import type { IntentId } from '../../src/base/ids.js'
import type { Remint } from '../../actors/intent/context.js'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { getReceipt } from '../../src/processor/commands/intents/intent_receipt.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { anIntent, promptPayQr } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import { balanceOf, runOnBothStores } from './scenarios.js'

interface Created {
  readonly intent_id: IntentId
  readonly session_token: string
}
interface Seen {
  readonly status: string
  readonly failure?: { readonly code: string }
}

const create = async (world: World, given = {}): Promise<Created> =>
  viewOf<Created>(await world.run(createIntent(DEMO, anIntent(given))))

const scan = (world: World, id: string, amount = '36000', given = {}): Promise<Answer> =>
  world.run(
    scanIntent(
      DEMO,
      {
        intent_id: id,
        session_jti: 'token-1',
        qr_payload: promptPayQr(),
        local_amount_minor_units: amount,
        duplicate_confirmed: false,
        ...given,
      },
      world.clock.now(),
    ),
  )

const confirm = (world: World, id: string, key?: string, jti = 'token-1'): Promise<Answer> =>
  world.run(confirmation(world, id, key, jti))

async function createScanned(world: World): Promise<IntentId> {
  const { intent_id: id } = await create(world)
  await scan(world, id)
  return id
}

async function createConfirmed(world: World): Promise<IntentId> {
  const id = await createScanned(world)
  await confirm(world, id)
  return id
}

const confirmation = (
  world: World,
  id: string,
  key?: string,
  jti = 'token-1',
): ReturnType<typeof confirmIntent> =>
  confirmIntent(
    DEMO,
    { intent_id: id, session_jti: jti, ...(key === undefined ? {} : { idempotency_key: key }) },
    world.clock.now(),
  )

const see = async (world: World, id: string): Promise<Seen> =>
  viewOf<Seen>(await world.run(getIntent(DEMO, id)))

const executed = (id: IntentId, over: object = {}): RailReport => ({
  status: 'executed',
  id,
  reportId: `rep-${id}`,
  transactionId: 'TX1',
  amount: 36_000n,
  currency: 'THB',
  destinationAccount: '0066812345678',
  ...over,
})

const kinds = (instructions: readonly RailInstruction[]): string[] =>
  instructions.map(({ kind }) => kind)
const types = (world: World): string[] => world.events.map(({ type }) => type)

const scenarios: Record<string, (t: Test, world: World) => Promise<void>> = {
  captured: async (t, world) => {
    const { intent_id: id } = await create(world)
    t.equal((await see(world, id)).status, 'created')
    t.equal(codeOf(await scan(world, id)), 'ok')
    t.match(viewOf(await confirm(world, id, 'key')), { status: 'authorized' })
    t.same(
      kinds(world.railInstructions),
      ['instruct'],
      'the instruction leaves once, after the commit',
    )
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'captured' })
    t.same(kinds(world.railInstructions), ['instruct', 'acknowledge'])
    await world.railReports(executed(id))
    t.same(types(world), ['payment_intent.authorized', 'payment_intent.captured'])
  },

  'an intent that the rail refuses fails': async (t, world) => {
    const before = await balanceOf(world, 'USD')
    const id = await createConfirmed(world)
    t.not((await balanceOf(world, 'USD')).reserved, '0')
    await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'account_closed' })
    t.same(await balanceOf(world, 'USD'), before, 'the money is released')
    t.match(await see(world, id), { status: 'failed', failure: { code: 'account_closed' } })
    t.same(types(world), ['payment_intent.authorized', 'payment_intent.failed'])
  },

  expired: async (t, world) => {
    const { intent_id: id } = await create(world)
    world.clock.pass(1_800_000)
    t.equal(codeOf(await scan(world, id)), 'payment_intent_not_scannable')
    await world.fireTimers()
    t.match(await see(world, id), { status: 'expired' })
    t.equal(codeOf(await confirm(world, id)), 'payment_intent_not_confirmable')
    t.same(types(world), ['payment_intent.expired'])
  },

  cancelled: async (t, world) => {
    const { intent_id: id } = await create(world)
    t.match(viewOf(await world.run(cancelIntent(DEMO, id))), { status: 'cancelled' })
    t.equal(codeOf(await world.run(cancelIntent(DEMO, id))), 'payment_intent_not_cancelable')
    t.same(types(world), ['payment_intent.cancelled'])
  },

  'an intent is cancelled before its submission': async (t, world) => {
    world.setRail(false)
    const id = await createConfirmed(world)
    t.same(world.railInstructions, [])
    t.match(viewOf(await world.run(cancelIntent(DEMO, id))), { status: 'cancelled' })
  },

  'an intent cannot be cancelled after its submission': async (t, world) => {
    const id = await createConfirmed(world)
    t.equal(codeOf(await world.run(cancelIntent(DEMO, id))), 'payment_intent_not_cancelable')
  },

  'an instruction is submitted when the rail is up again': async (t, world) => {
    world.setRail(false)
    await createConfirmed(world)
    await world.fireTimers()
    t.same(world.railInstructions, [], 'nothing is sent while the rail is down')
    world.setRail(true)
    await world.fireTimers(1_000)
    t.same(kinds(world.railInstructions), ['instruct'])
  },

  'an instruction that is never submitted fails': async (t, world) => {
    world.setRail(false)
    const id = await createConfirmed(world)
    await world.fireTimers(60_000)
    t.match(await see(world, id), { status: 'failed', failure: { code: 'rail_unavailable' } })
    t.same(world.railInstructions, [], 'an instruction past its deadline is never sent')
  },

  'an unknown outcome is captured when the rail reports the execution': async (t, world) => {
    const id = await createConfirmed(world)
    await world.fireTimers(4_999)
    t.same(kinds(world.railInstructions), ['instruct'])
    await world.fireTimers(1)
    t.same(kinds(world.railInstructions), ['instruct', 'query'])
    t.match(
      await see(world, id),
      { status: 'authorized' },
      'without an answer the intent stays authorized',
    )
    await world.railReports(executed(id, { reportId: null }))
    t.match(await see(world, id), { status: 'captured' })
  },

  'an unknown outcome is resubmitted when the rail has no record of it': async (t, world) => {
    const id = await createConfirmed(world)
    await world.railReports({ status: 'not_found', id, reportId: null })
    t.same(kinds(world.railInstructions), ['instruct', 'instruct'], 'the same instruction again')
    t.same(world.railInstructions[0], world.railInstructions[1])
  },

  'a payment returned by the bank is refunded': async (t, world) => {
    const id = await createConfirmed(world)
    await world.railReports(executed(id, { status: 'returned' }))
    t.match(
      await see(world, id),
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
    const id = await createScanned(world)
    const refund = (key: string): Promise<Answer> => world.run(refundIntent(DEMO, id, key))
    t.equal(codeOf(await refund('r1')), 'payment_intent_not_refundable')
    await confirm(world, id)
    await world.railReports(executed(id))
    const first = viewOf(await refund('r1'))
    t.match(first, { status: 'captured', refund: { status: 'requested', amount_usd_cents: 1_000 } })
    t.same(viewOf(await refund('r1')), first, 'same key: the same answer')
    t.equal(codeOf(await refund('r2')), 'payment_intent_not_refundable')
    t.same(kinds(world.railInstructions), ['instruct', 'acknowledge', 'recall'])
    await world.fireTimers(5_000)
    t.equal(world.railInstructions.at(-1)?.kind, 'recall', 'requested again')
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    t.match(await see(world, id), { status: 'refunded', refund: { status: 'done' } })
    t.same(viewOf(await refund('r1')), first)
  },

  'refund refused by the rail': async (t, world) => {
    const id = await createConfirmed(world)
    await world.railReports(executed(id))
    await world.run(refundIntent(DEMO, id, 'r1'))
    await world.railReports({ status: 'recall_refused', id, reportId: 'no' })
    t.match(await see(world, id), { status: 'captured', refund: { status: 'refused' } })
    t.equal(
      codeOf(await world.run(refundIntent(DEMO, id, 'r2'))),
      'ok',
      'a refund can be requested again',
    )
  },

  'a refund after its deadline is refused': async (t, world) => {
    const id = await createConfirmed(world)
    await world.railReports(executed(id))
    world.clock.pass(90 * 24 * 3_600_000)
    const late = await world.run(refundIntent(DEMO, id, 'r1'))
    t.equal(codeOf(late), 'payment_intent_not_refundable')
  },

  'a receipt exists from authorization on': async (t, world) => {
    const { intent_id: id } = await create(world, { partner_user_id: 'maria' })
    const subject = world.vault.receiptSubject('maria')
    const receipt = async (): Promise<unknown> =>
      viewOf(await world.run(getReceipt(DEMO, id, subject)))
    t.match(await receipt(), { status: 'pending', local_amount: '0', merchant_name: '' })
    await scan(world, id, '36050')
    await confirm(world, id)
    t.match(await receipt(), {
      status: 'pending',
      amount_usd_cents: 1_002,
      local_amount: '360',
      local_amount_minor_units: '36050',
      destination_masked: '****5678',
    })
    await world.railReports(executed(id, { amount: 36_050n }))
    t.match(await receipt(), { status: 'captured', captured_at: /Z$/ })
    await world.railReports(executed(id, { amount: 36_050n, status: 'returned', reportId: 'back' }))
    const last = (await receipt()) as object
    t.match(last, { status: 'refunded', refund: { amount_usd_cents: 1_002, refunded_at: /Z$/ } })
    t.notOk('captured_at' in last)
    const other = world.vault.receiptSubject('other')
    const foreign = await world.run(getReceipt(DEMO, id, other))
    t.equal(codeOf(foreign), 'payment_intent_not_found')
    const bare = createHash('sha256').update(JSON.stringify('maria')).digest('base64url')
    const guess = await world.run(getReceipt(DEMO, id, bare))
    t.equal(codeOf(guess), 'payment_intent_not_found', 'an unkeyed digest is not a valid subject')
  },

  're-minted tokens': async (t, world) => {
    const { intent_id: id } = await create(world)
    const remint = (given = {}): Promise<Answer> => {
      const { partner_user_id, kyc_attestation, sanctions_attestation } = anIntent()
      return world.run(
        remintSession(DEMO, {
          intent_id: id,
          partner_user_id,
          kyc_attestation,
          sanctions_attestation,
          ...given,
        }),
      )
    }
    const kept = (): readonly Remint[] => world.memory().intents.get(id)?.context.remints ?? []
    t.match(viewOf(await remint()), { intent_id: id, session_token: /^ey/ })
    const { kyc_attestation, sanctions_attestation } = anIntent()
    const attestations = JSON.stringify([kyc_attestation, sanctions_attestation])
    t.match(kept(), [{ at: world.clock.now(), jti: /^.{22}$/, attestations }])
    t.equal(codeOf(await remint({ partner_user_id: 'other' })), 'user_mismatch')
    t.equal(codeOf(await remint({ intent_id: 'pi_none' })), 'payment_intent_not_found')
    await see(world, id)
    t.equal(kept().length, 1, 'a refused re-mint stores nothing')
    world.clock.pass(1_000)
    const again = { ...kyc_attestation, verified: true, method: 'second screening' }
    t.equal(codeOf(await remint({ kyc_attestation: again })), 'ok')
    await world.rebuild()
    await see(world, id)
    t.equal(kept().length, 2)
    t.match(kept()[1], { at: world.clock.now(), attestations: /second screening/ })
    for (let i = 0; i < REMINTS_KEPT; i++) await remint()
    t.equal(kept().length, REMINTS_KEPT, 'the latest are kept')
    t.notOk(kept().some((one) => one.attestations.includes('second screening')))
    await scan(world, id)
    await confirm(world, id)
    t.equal(codeOf(await remint()), 'ok', 'an authorized intent can be re-minted')
    t.equal(kept().at(-1)?.attestations, attestations)
    t.same(types(world), ['payment_intent.authorized'], 'no event is published')
    await world.railReports(executed(id))
    t.equal(codeOf(await remint()), 'payment_intent_terminal')
  },

  'a report that contradicts the intent is a discrepancy': async (t, world) => {
    const id = await createConfirmed(world)
    await world.railReports(executed(id, { amount: 35_999n }))
    await world.railReports(executed(id, { currency: 'VND' }))
    await world.railReports(executed(id, { destinationAccount: '0066899999999' }))
    t.match(await see(world, id), { status: 'authorized' }, 'never a transition')
  },

  'a second confirm is replayed or rejected': async (t, world) => {
    const id = await createScanned(world)
    const first = await confirm(world, id, 'key')
    t.same(viewOf(await confirm(world, id, 'key')), viewOf(first), 'same key: the same answer')
    t.same(viewOf(await confirm(world, id, 'key', 'token-2')), viewOf(first), 're-minted token')
    t.equal(codeOf(await confirm(world, id, 'other')), 'authentication_failed')
    t.equal(codeOf(await confirm(world, id)), 'authentication_failed')
    t.equal(codeOf(await confirm(world, id, 'other', 'token-2')), 'already_confirmed')
    t.same(kinds(world.railInstructions), ['instruct'])
  },

  'concurrent confirms in one batch confirm once': async (t, world) => {
    const id = await createScanned(world)
    const answers = await world.runAll([
      confirmation(world, id, 'key'),
      confirmation(world, id, 'key'),
      confirmation(world, id, 'other'),
    ])
    t.same(answers.map(codeOf), ['ok', 'ok', 'authentication_failed'])
    t.same(kinds(world.railInstructions), ['instruct'])
  },

  'two creates with one key create one intent': async (t, world) => {
    const request = anIntent({ idempotency_key: 'k' })
    const [one, other] = await world.runAll([
      createIntent(DEMO, request),
      createIntent(DEMO, request),
    ])
    t.same(viewOf(other!), viewOf(one!), 'concurrent creates of one batch get one intent')
    const { intent_id: id } = viewOf<Created>(one!)
    await world.fireTimers(1_800_000)
    const replayed = await world.run(createIntent(DEMO, request))
    t.equal(JSON.stringify(viewOf(replayed)), JSON.stringify(viewOf(one!)), 'in any state')
    t.match(await see(world, id), { status: 'expired' })
    const changed = createIntent(DEMO, { ...request, amount_usd_cents: 5_001 })
    t.equal(codeOf(await world.run(changed)), 'idempotency_conflict')
  },

  'a duplicate payment needs an acknowledgment at its scan': async (t, world) => {
    const first = await create(world)
    await scan(world, first.intent_id)
    await confirm(world, first.intent_id)
    const second = await create(world)
    t.equal(codeOf(await scan(world, second.intent_id)), 'duplicate_scan')
    t.equal(
      codeOf(await scan(world, second.intent_id, '36001')),
      'ok',
      'another amount is not a duplicate',
    )
    const acknowledged = await scan(world, second.intent_id, '36000', { duplicate_confirmed: true })
    t.equal(codeOf(acknowledged), 'ok')
    t.equal(codeOf(await confirm(world, second.intent_id)), 'ok')
    world.clock.pass(60_000)
    const third = await create(world)
    t.equal(codeOf(await scan(world, third.intent_id)), 'ok', 'the window is over')
  },

  'a scan that becomes a duplicate is rejected at its confirm': async (t, world) => {
    const [first, second] = [await create(world), await create(world)]
    await scan(world, first.intent_id)
    await scan(world, second.intent_id)
    t.equal(codeOf(await confirm(world, first.intent_id)), 'ok')
    t.equal(codeOf(await confirm(world, second.intent_id)), 'duplicate_scan')
  },

  'an expired quote is rejected': async (t, world) => {
    const { intent_id: id } = await create(world)
    t.equal(codeOf(await confirm(world, id)), 'quote_required')
    await scan(world, id)
    world.clock.pass(300_000)
    t.equal(codeOf(await confirm(world, id)), 'quote_expired')
    t.equal(codeOf(await scan(world, id)), 'ok')
    t.match(viewOf(await confirm(world, id)), { quote: { quote_version: 2 } })
  },

  'a quote of a clock that was ahead has expired once it is right': async (t, world) => {
    const right = world.clock.now()
    world.clock.pass(7 * HOUR)
    const { intent_id: id } = await create(world)
    await scan(world, id)
    world.clock.set(right)
    t.equal(codeOf(await confirm(world, id)), 'quote_expired')
    await scan(world, id)
    t.equal(codeOf(await confirm(world, id)), 'ok')
  },

  X: async (t, world) => {
    const pay = async (amount: string): Promise<string> => {
      const { intent_id: id } = await create(world, { amount_usd_cents: 1_000_000 })
      const scanned = codeOf(await scan(world, id, amount, { duplicate_confirmed: true }))
      return scanned === 'ok' ? codeOf(await confirm(world, id)) : scanned
    }
    t.equal(await pay('5000001'), 'user_limit_exceeded', 'a transaction')
    for (let i = 0; i < 4; i++) t.equal(await pay('5000000'), 'ok')
    t.equal(await pay('100'), 'user_limit_exceeded', 'a day')
    world.clock.pass(24 * 3_600_000)
    t.equal(await pay('100'), 'ok', 'the next day')
  },

  'a failure releases the limits': async (t, world) => {
    const { intent_id: id } = await create(world, { amount_usd_cents: 1_000_000 })
    await scan(world, id, '5000000')
    await confirm(world, id)
    await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'rejected' })
    for (let i = 0; i < 4; i++) {
      const next = await create(world, { amount_usd_cents: 1_000_000 })
      await scan(world, next.intent_id, '5000000', { duplicate_confirmed: true })
      t.equal(codeOf(await confirm(world, next.intent_id)), 'ok')
    }
  },
}

runOnBothStores(scenarios, async (t, world) => {
  const sequences = world.events.map(({ sequence }) => sequence)
  const expected = [...sequences.keys()].map((index) => index + 1)
  t.same(sequences, expected, 'no gap in the sequence')
})
