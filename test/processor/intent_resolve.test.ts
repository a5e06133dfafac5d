/** Operators end an intent's unknown outcome with evidence other than a rail report. */
import { DAY, HOUR, MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import {
  resolveIntent,
  reverseIntent,
} from '../../src/processor/commands/intents/intent_resolve.js'
import { showIntent } from '../../src/processor/queries/intent_show.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { dueIds } from '../support/due_ids.js'
import { codeOf, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  expired,
  refunded,
  scanned,
  THAI,
  waiting,
  type Stage,
  intentAt,
} from './intent_lifecycle.js'
import {
  accountOf,
  balanceOf,
  discrepanciesOf,
  executed,
  OPERATOR,
  operatorLogOf,
  read,
  runOnBothStores,
  types,
} from './scenarios.js'

const ROUTED = { environment: 'sandbox', route: 'sandbox/th_promptpay', rail: 'sandbox' }

const FUNDS = 1_000_000_000n
const QUOTE = 1_000n
const EVIDENCE = 'bank statement of 21 November, line 12'

const resolve = (world: World, id: string, outcome: string, evidence = EVIDENCE): Promise<Answer> =>
  world.run(resolveIntent(OPERATOR, id, { outcome, evidence }))

const reverse = (world: World, id: string, evidence = EVIDENCE): Promise<Answer> =>
  world.run(reverseIntent(OPERATOR, id, evidence))

const at = (world: World, ms: number): Instant => plus(world.clock.now(), ms)

runOnBothStores({
  'an intent resolved as paid is captured': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    t.match(viewOf(await resolve(world, lifecycle.id, 'captured')), {
      status: 'captured',
      captured_at: /Z$/,
    })
    t.same(await balanceOf(world, 'USD'), { available: String(FUNDS - QUOTE), reserved: '0' })
    t.equal(await accountOf(world, 'rail_clearing', 'THB'), '36000')
    t.equal(types(world).at(-1), 'payment_intent.captured')
    t.match(await operatorLogOf(t, lifecycle.id), [
      { actor: 'ann', reason: 'a test', action: 'resolve_intent_captured', evidence: EVIDENCE },
    ])
    await lifecycle.executed()
    t.same(await discrepanciesOf(world), [], 'the rail report matches the resolution')
    t.equal(types(world).length, 2, 'each event is published once')
    const { currency, account: destinationAccount } = THAI
    const other = { transactionId: 'TX2', amount: 36_000n, currency, destinationAccount }
    await world.railReports(executed(lifecycle.id as never, other))
    t.match(await discrepanciesOf(world), [{ reason: 'executed_again', amount: '36000' }])
    await lifecycle.returned()
    t.match(await lifecycle.see(), { status: 'refunded' })
  },

  'a refusal after a resolution as paid is a discrepancy': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    viewOf(await resolve(world, lifecycle.id, 'captured'))
    await lifecycle.refused()
    t.match(await lifecycle.see(), { status: 'captured' })
    t.match(await discrepanciesOf(world), [{ reason: 'refused_after_execution', plan: null }])
  },

  'the rail is queried once more': async (t, world) => {
    for (const outcome of ['captured', 'failed']) {
      const lifecycle = await intentAt(world, authorized)
      world.railInstructions.length = 0
      await resolve(world, lifecycle.id, outcome)
      t.same(world.railInstructions, [{ kind: 'query', id: lifecycle.id, ...ROUTED }])
    }
  },

  'the rail is queried again after a crash, until it answers': async (t, world) => {
    for (const outcome of ['captured', 'failed']) {
      const lifecycle = await intentAt(world, authorized)
      await resolve(world, lifecycle.id, outcome)
      await world.rebuild()
      world.railInstructions.length = 0
      await world.fireTimers(5_000)
      t.same(world.railInstructions, [{ kind: 'query', id: lifecycle.id, ...ROUTED }], outcome)
      world.setRail(false)
      await world.fireTimers(HOUR)
      world.setRail(true)
      world.railInstructions.length = 0
      await world.fireTimers(SECOND)
      t.same(
        world.railInstructions,
        [{ kind: 'query', id: lifecycle.id, ...ROUTED }],
        'when the rail is up again',
      )
      await world.railReports({ status: 'accepted', id: lifecycle.id, reportId: null })
      t.not(
        await dueIds(world.store, 'intents', at(world, DAY), 10),
        [],
        'the inquiry continues without an answer',
      )
      if (outcome === 'captured') await lifecycle.executed()
      else await lifecycle.refused()
      world.railInstructions.length = 0
      await world.fireTimers(30 * DAY)
      t.same(world.railInstructions, [], 'answered')
      t.match(await lifecycle.see(), { status: outcome })
    }
    t.same(await discrepanciesOf(world), [])
  },

  'a silent rail is queried for a day, then no more': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    await resolve(world, lifecycle.id, 'failed')
    world.railInstructions.length = 0
    for (let minute = 0; minute < 3 * 24 * 60; minute += 5) {
      await world.fireTimers(5 * MINUTE)
    }
    t.ok(
      world.railInstructions.length > 5 && world.railInstructions.length < 12,
      `${world.railInstructions.length} inquiries`,
    )
    t.same(await dueIds(world.store, 'intents', at(world, 400 * DAY), 10), [])
  },

  'a recall without an answer of the rail is resolved': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    const early = codeOf(await resolve(world, lifecycle.id, 'refund_failed'))
    t.equal(early, 'payment_intent_not_at_rail', 'no recall was requested')
    viewOf(await lifecycle.refund())
    t.match(viewOf(await resolve(world, lifecycle.id, 'refund_failed')), {
      status: 'captured',
      refund: { status: 'refused', failed_at: /Z$/ },
    })
    t.equal(types(world).at(-1), 'payment_intent.refund_failed')
    t.match(await operatorLogOf(t, lifecycle.id), [{ action: 'resolve_intent_refund_failed' }])
    const again = codeOf(await resolve(world, lifecycle.id, 'refund_failed'))
    t.equal(again, 'payment_intent_not_at_rail', 'once')
  },

  'a return without a rail report is resolved as reversed': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    t.equal(codeOf(await reverse(world, lifecycle.id)), 'payment_intent_not_captured')
    await lifecycle.executed()
    viewOf(await lifecycle.refund())
    t.equal(codeOf(await reverse(world, lifecycle.id, ' ')), 'invalid_request')
    t.equal(codeOf(await reverse(world, 'pi_x')), 'payment_intent_not_found')
    t.match(viewOf(await reverse(world, lifecycle.id)), {
      status: 'refunded',
      refunded_at: /Z$/,
      refund: { status: 'done' },
    })
    t.same(await balanceOf(world, 'USD'), { available: String(FUNDS), reserved: '0' })
    t.equal(await accountOf(world, 'rail_clearing', 'THB'), '0')
    t.equal(types(world).at(-1), 'payment_intent.refunded')
    t.equal(codeOf(await reverse(world, lifecycle.id)), 'payment_intent_not_captured', 'once')
    await lifecycle.returned()
    t.same(await discrepanciesOf(world), [], 'the rail reports the same money')
    t.same(await balanceOf(world, 'USD'), { available: String(FUNDS), reserved: '0' })
    t.match(await operatorLogOf(t, lifecycle.id), [
      { action: 'reverse_intent', evidence: EVIDENCE },
    ])
    world.railInstructions.length = 0
    await world.fireTimers(DAY)
    t.same(world.railInstructions, [], 'the recall has ended')
  },

  'a recall refused after a reversal is a discrepancy': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    viewOf(await lifecycle.refund())
    viewOf(await reverse(world, lifecycle.id))
    await world.rebuild()
    await lifecycle.recallRefused()
    await lifecycle.recallRefused()
    t.match(await discrepanciesOf(world), [
      {
        ...{ entity: lifecycle.id, tenant: 'demo_sandbox', plan: null },
        reason: 'recall_refused_after_reversal',
      },
    ])
    t.equal((await discrepanciesOf(world)).length, 1, 'once')
    t.match(await lifecycle.see(), { status: 'refunded' })
    t.equal(types(world).at(-1), 'payment_intent.refunded')
  },

  'a recall that was refused before a reversal contradicts nothing': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    viewOf(await lifecycle.refund())
    await lifecycle.recallRefused()
    viewOf(await reverse(world, lifecycle.id))
    await lifecycle.recallRefused()
    const other = await intentAt(world, captured)
    viewOf(await other.refund())
    await other.returned()
    await other.recallRefused()
    t.same(await discrepanciesOf(world), [])
  },

  'an intent resolved as unpaid fails': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    t.match(viewOf(await resolve(world, lifecycle.id, 'failed')), {
      status: 'failed',
      failure: { code: 'not_carried_out', source: 'service', retryable: true },
    })
    t.same(await balanceOf(world, 'USD'), { available: String(FUNDS), reserved: '0' })
    t.match(await operatorLogOf(t, lifecycle.id), [{ action: 'resolve_intent_failed' }])
    await lifecycle.refused()
    t.same(await discrepanciesOf(world), [], 'the rail report matches the resolution')
  },

  'a failure releases its limits': async (t, world) => {
    const knowing = { duplicate_confirmed: true }
    const first = await beginLifecycle(world, { corridor: 'vn_vietqr' })
    const second = await first.another()
    for (const lifecycle of [first, second]) {
      viewOf(await lifecycle.scan('5000000', knowing))
      viewOf(await lifecycle.confirm())
    }
    const third = await first.another()
    t.equal(codeOf(await third.scan('5000000', knowing)), 'user_limit_exceeded')
    viewOf(await resolve(world, second.id, 'failed'))
    t.equal(codeOf(await third.scan('5000000', knowing)), 'ok')
  },

  'an execution after a resolution as unpaid is a discrepancy': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    viewOf(await resolve(world, lifecycle.id, 'failed'))
    await lifecycle.executed()
    t.match(await lifecycle.see(), { status: 'failed' })
    const [found] = await discrepanciesOf(world)
    t.match(found, { reason: 'executed_after_end', plan: 'discrepancy_paid', amount: '36000' })
    t.equal(await accountOf(world, 'suspense', 'THB'), '-36000')

    const file = viewOf<{ timeline: { kind: string; text: string }[] }>(
      await read(world, showIntent(lifecycle.id)),
    )
    const entries = file.timeline.map(({ kind, text }) => `${kind} ${text}`)
    t.match(entries.at(-1), `discrepancy ${found?.id}: executed_after_end, open`)
    t.ok(entries.includes(`action resolve_intent_failed by ann: a test (${EVIDENCE})`))
  },

  'an intent without an unknown outcome cannot be resolved': async (t, world) => {
    const stages: Readonly<Record<string, Stage>> = { captured, refunded, expired, scanned }
    for (const [name, stage] of Object.entries({ ...stages, waiting })) {
      const lifecycle = await beginLifecycle(world)
      await stage(lifecycle)
      const before = await lifecycle.see()
      const code = codeOf(await resolve(world, lifecycle.id, 'failed'))
      t.equal(code, 'payment_intent_not_at_rail', name)
      t.same(await lifecycle.see(), before)
    }
    const { id, ...lifecycle } = await beginLifecycle(world)
    await authorized({ id, ...lifecycle })
    for (const [intent, outcome, evidence, code] of [
      [id, 'refunded', EVIDENCE, 'invalid_request'],
      [id, 'toString', EVIDENCE, 'invalid_request'],
      [id, 'captured', ' ', 'invalid_request'],
      [id, 'captured', 'e'.repeat(2_001), 'invalid_request'],
      ['pi_x', 'captured', EVIDENCE, 'payment_intent_not_found'],
      ['pi_x', '', EVIDENCE, 'invalid_request'],
    ] as const) {
      t.equal(codeOf(await resolve(world, intent, outcome, evidence)), code)
      t.same(await operatorLogOf(t, intent), [], 'refused actions are not logged')
    }
    t.match(await lifecycle.see(), { status: 'authorized' })
  },

  'operators see an intent with details and history': async (t, world) => {
    const lifecycle = await intentAt(world, refunded)
    const file = viewOf<{ timeline: { at: string; kind: string; text: string }[] }>(
      await read(world, showIntent(lifecycle.id)),
    )
    t.match(file, {
      tenant: 'demo_sandbox',
      partner_user_id: lifecycle.user,
      intent: await lifecycle.see(),
      destination_masked: '****5678',
      transaction_id: 'TX1',
      submitted_at: /Z$/,
    })
    t.same(
      file.timeline
        .filter(({ kind }) => !['event', 'entry'].includes(kind))
        .map(({ kind, text }) => `${kind} ${text.replaceAll(/(?:req|pi)_\w+/g, 'ID')}`)
        .filter((step) => !step.startsWith('request')),
      [
        ...['state created', 'state authorized', 'rail instruction ID submitted'],
        ...['rail executed: transaction TX1', 'state captured'],
        ...['rail returned', 'state refunded'],
      ],
    )
    t.same(
      file.timeline.find(({ kind }) => kind === 'entry')?.text.split(':')[0],
      'intent_confirmed',
    )
    t.same(
      file.timeline.filter(({ kind }) => kind === 'event').map(({ text }) => text.split(' ')[0]),
      ['payment_intent.authorized', 'payment_intent.captured', 'payment_intent.refunded'],
    )
    t.notMatch(JSON.stringify(file), '0066812345678')
    t.equal(codeOf(await read(world, showIntent('pi_x'))), 'payment_intent_not_found')
  },
})
