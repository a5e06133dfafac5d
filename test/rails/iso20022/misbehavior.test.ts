/** Each misbehavior of the switch: no payment is lost, guessed or paid twice. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { EffectId } from '../../../src/base/ids.js'
import { writeMessage } from '../../../src/rails/iso20022/codec.js'
import { readMembership } from '../../../src/rails/iso20022/membership_file.js'
import type { Message } from '../../../src/rails/iso20022/messages.js'
import type { Mode } from '../../../src/rails/switch/behavior.js'
import { uetrOf } from '../../../src/rails/iso20022/payment_messages.js'
import { createSigner, SIGNATURE_HEADER } from '../../../src/rails/iso20022/signature.js'
import { aLinkedListener, until } from '../harness.js'
import { aNetwork, type Network } from './network.js'
import { notification, PAYOUT, SAMPLES } from './samples.js'

t.setTimeout(0)
const network: Network = await aNetwork(t)
const rail = await aLinkedListener(t, network.address)

const pay = (mode: Mode | `refused:${string}`): EffectId =>
  rail.pay({ account: '1234567890', reference: `switch:${mode}` }).id
const { statusesOf } = rail
const atSwitch = (id: EffectId) => network.journal.payments.get(id)
const noticesAbout = async (subject: string): Promise<readonly string[]> =>
  (await network.record().notices())
    .filter((notice) => notice.subject === subject)
    .map(({ kind, code }) => `${kind} ${code}`)
const hasNotice = (subject: string, notice: string): Promise<void> =>
  until(notice, async () => (await noticesAbout(subject)).includes(notice))

/** Modes whose payment is executed as instructed, and how often its message comes. */
const EXECUTED: Readonly<Partial<Record<Mode, number>>> = {
  ...{ paid: 1, late: 1, lost: 1, twice: 1 },
  ...{ no_amount: 1, bad_signature: 1, oversized: 1, duplicate: 1 },
  ...{ lost_request: 2, unknown: 2, message_rejected: 2 },
}

t.test('what the switch executes is executed once, with the same bytes', async (t) => {
  const paid = Object.entries(EXECUTED).map(([name, submissions]) => {
    const mode = name as Mode
    return { mode, submissions, id: pay(mode) }
  })
  for (const { mode, submissions, id } of paid) {
    const report = await rail.waitFor(id, 'executed')
    t.equal((await network.record().idsOf([uetrOf(id)])).get(uetrOf(id)), id)
    t.match(report, { amount: 12_345n, currency: 'THB', destinationAccount: '1234567890' }, mode)
    t.match(atSwitch(id), { state: 'executed', submissions, repeatDiffers: false }, mode)
    t.same(statusesOf(id), ['executed'], mode)
  }
  const idOf = (wanted: Mode): EffectId => paid.find(({ mode }) => mode === wanted)!.id
  t.same(await noticesAbout(idOf('bad_signature')), ['signature_invalid submit'])
  t.same(await noticesAbout(idOf('message_rejected')), ['message_rejected TRYAGAIN'])
})

t.test('refusals, with the code for operators', async (t) => {
  const closed = pay('refused:AC04')
  const unknown = pay('refused:ZZ99')
  const funds = pay('refused:AM04')
  t.match(await rail.waitFor(closed, 'refused'), { refusal: 'account_closed' })
  t.match(await rail.waitFor(unknown, 'refused'), { refusal: 'rejected' })
  t.match(await rail.waitFor(funds, 'refused'), { refusal: 'rail_unavailable' })
  t.same(await noticesAbout(unknown), ['refusal ZZ99'])
  t.same((await noticesAbout(funds)).toSorted(), ['no_funds AM04', 'refusal AM04'])
  t.equal(atSwitch(closed)?.executed, null)
  const { id: elsewhere } = rail.pay({ environment: 'production', reference: 'switch:paid' })
  t.match(await rail.waitFor(elsewhere, 'refused'), { refusal: 'rejected' })
  t.equal(atSwitch(elsewhere), undefined, 'one of another environment is not sent')
  t.same(
    network.alarms.filter((alarm) => alarm === 'no_funds'),
    ['no_funds'],
  )
})

t.test('contradictions are reported, and no execution is taken back', async (t) => {
  const contradictory = pay('contradictory')
  const withdrawn = pay('withdrawn')
  await rail.waitFor(contradictory, 'executed')
  await rail.waitFor(withdrawn, 'executed')
  await until('the rejection is taken', () => network.journal.waiting.size === 0)
  rail.send([{ kind: 'query', id: withdrawn, environment: 'sandbox' }])
  await until('the query is answered', () => rail.about(withdrawn).length > 1)
  t.same(statusesOf(withdrawn), ['executed', 'executed'])
  t.ok(network.lines.some((line) => line.includes('the bank contradicts itself')))
})

t.test('another amount is reported as it was executed', async (t) => {
  t.match(await rail.waitFor(pay('wrong_amount'), 'executed'), { amount: 12_346n })
})

t.test('recalls: agreed, refused, repeated, and with less money', async (t) => {
  const recall = (id: EffectId): void =>
    rail.send([{ kind: 'recall', id, reason: 'refund', environment: 'sandbox' }])
  const [agreed, refused, repeated, partial] = [
    ...[pay('paid'), pay('recall_refused'), pay('recall_repeated'), pay('partial_return')],
  ] as const
  for (const id of [agreed, refused, repeated, partial]) {
    await rail.waitFor(id, 'executed')
    recall(id)
  }
  await rail.waitFor(agreed, 'returned')
  await rail.waitFor(refused, 'recall_refused')
  await rail.waitFor(repeated, 'returned')
  t.equal(atSwitch(refused)?.state, 'executed')
  await until('the money comes', () => atSwitch(partial)?.returned !== null)
  await until('it is taken', () => network.journal.waiting.size === 0)
  t.same(statusesOf(partial), ['executed'], 'a return of less is for an operator')
  t.ok(network.lines.some((line) => line.includes(partial) && line.includes('"returned"')))
})

t.test('statements: what they tell, a missing number, a restart of both', async (t) => {
  const [silent, gap] = [pay('pending'), pay('statement_gap')]
  await rail.waitFor(gap, 'executed')
  const pending = atSwitch(silent)!
  const executed = { number: network.journal.lastMovement() + 1, at: 1, amount: pending.amount }
  network.journal.write({ payment: { ...pending, mode: 'late', state: 'executed', executed } })
  network.issueStatements()
  await rail.waitFor(silent, 'executed')
  await until('the statement is taken', () => network.journal.waiting.size === 0)
  t.same(await noticesAbout('THB'), [], 'the first number that comes begins the count')
  await network.restartAdapter()
  await network.restartSwitch()
  await until('the link is up', () => rail.up())
  await rail.waitFor(pay('statement_gap'), 'executed')
  network.issueStatements()
  await hasNotice('THB', 'statement_missing 3')
})

t.test('accounts and names are not in the log', async (t) => {
  const log = network.lines.join('')
  t.ok(log.length > 1_000)
  for (const secret of ['1234567890', 'SOMCHAI', 'PRIVATE KEY', '0000000001']) {
    t.notOk(log.includes(secret), secret)
  }
})

const ofSwitch = () => readMembership(join(network.folder, 'switch.json'))
/** A message, sent by the switch unless another one is named. */
const written = (message: Message, from = 'SWITCH'): Buffer =>
  writeMessage({ ...message, from, to: 'CAUSEWAY' })

interface Posted {
  readonly body?: Buffer
  readonly signature?: string | undefined
  readonly isCertified?: boolean
  readonly method?: string
  /** Without its length before it. */
  readonly isChunked?: boolean
}

/**
 * Posts to the adapter as the switch, or without its certificate.
 *
 * @returns the status. 0 means no connection
 */
async function post(t: Test, posted: Posted) {
  const { body, signature, isCertified = true, method = 'POST', isChunked = false } = posted
  const us = await ofSwitch()
  const { ca, cert, key } = us.tls
  const agent = new Agent(isCertified ? { ca, cert, key } : { ca })
  t.teardown(() => agent.destroy())
  const headers = signature === undefined ? {} : { [SIGNATURE_HEADER]: signature }
  return new Promise<number>((resolve) => {
    const call = request(us.sendTo, { agent, method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    call.once('error', () => resolve(0))
    if (isChunked) call.flushHeaders()
    call.end(body)
  })
}

t.test('notifications of single entries, numbered apart from statements', async (t) => {
  const { signer } = await ofSwitch()
  const amount = { minor: 12_345n, currency: 'THB' }
  const notify = async (id: EffectId, number: string): Promise<void> => {
    const body = written(notification(id, amount, number))
    t.equal(await post(t, { body, signature: await signer.sign(body) }), 204)
  }
  const [first, second] = [pay('pending'), pay('pending')]
  await until('both are at the switch', () => [first, second].every(atSwitch))
  await notify(first, '41')
  t.match(await rail.waitFor(first, 'executed'), { amount: 12_345n, currency: 'THB' })
  t.notOk(statusesOf(second).includes('executed'))
  await notify(second, '43')
  await rail.waitFor(second, 'executed')
  await notify(second, '43')
  t.same(
    statusesOf(second).filter((status) => status === 'executed'),
    ['executed'],
  )
  const missing = (await noticesAbout('THB')).filter((notice) => notice.startsWith('notification'))
  t.same(missing, ['notification_missing 42'])
})

t.test('a return whose references were cut is taken, and an operator is told', async (t) => {
  const { signer } = await ofSwitch()
  const whole = written(SAMPLES['pacs.004.001.10'])
  const body = Buffer.from(whole.toString().replaceAll(PAYOUT, PAYOUT.slice(0, 16)))
  t.equal(await post(t, { body, signature: await signer.sign(body) }), 204)
  t.same(await noticesAbout('B1'), ['payment_unnamed pacs.004.001.10'])
})

t.test('only signed messages of the switch are taken', async (t) => {
  const { signer } = await ofSwitch()
  const body = written(SAMPLES['pacs.002.001.11'])
  const signature = await signer.sign(body)
  t.equal(await post(t, { body, signature, isCertified: false }), 0, 'no certificate')
  t.equal(await post(t, { body }), 401, 'no signature')
  t.equal(await post(t, { body: Buffer.from(`${body.toString()} `), signature }), 401)
  const adapters = readFileSync(join(network.folder, 'adapter.signing.pem'), 'utf8')
  const own = await (await createSigner(adapters, 'causeway-1', 'ES256')).sign(body)
  t.equal(await post(t, { body, signature: own }), 401, 'our own key')
  t.equal(await post(t, { method: 'GET', signature }), 405)
  t.equal(await post(t, { body, signature }), 204, 'of an unknown payment')
  const hostile = Buffer.from('<!DOCTYPE m [<!ENTITY a "b">]><m>&a;</m>')
  t.equal(await post(t, { body: hostile, signature: await signer.sign(hostile) }), 400)
  const others = written(SAMPLES['pacs.002.001.11'], 'OTHER')
  t.equal(await post(t, { body: others, signature: await signer.sign(others) }), 400)
  const transfer = written(SAMPLES['pacs.008.001.09'])
  t.equal(await post(t, { body: transfer, signature: await signer.sign(transfer) }), 400)
  const large = Buffer.alloc(10_000_000, '<a>')
  t.ok([0, 413].includes(await post(t, { body: large, signature })), 'ten megabytes')
  t.ok([0, 413].includes(await post(t, { body: large, signature, isChunked: true })))
  await hasNotice('message', 'message_malformed pacs.008.001.09')
  await hasNotice('message', 'message_malformed the message is too large')
  await rail.waitFor(pay('paid'), 'executed')
})
