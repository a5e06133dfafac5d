/**
 * A stack with the ISO 20022 adapter and a switch that misbehaves, while adapter, switch and
 * processor are killed: nothing is paid twice, nothing is lost, the audit is clean.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { messagesIn } from '../../src/operations/demo/demo_messages.js'
import type { Mode } from '../../src/rails/switch/behavior.js'
import { openSwitchLog, type SwitchPayment } from '../../src/rails/switch/switch_log.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { startSupervisedStack } from '../support/supervised_stack.js'

const settings = { RAIL_ADAPTER: 'iso20022', RATE_LIMIT: 'off', WEBHOOK_ALLOW_PRIVATE: 'false' }
const stack = await startSupervisedStack(settings, t)
const { partner, ops } = stack
const fileOf = (name: string): string => join(stack.dataDir, name)

function atSwitch(): ReadonlyMap<string, SwitchPayment> {
  const log = openSwitchLog(fileOf(FILES.switchLog), { readOnly: true })
  log.close()
  return log.payments
}

const pay = (mode: Mode | `refused:${string}`, round = 0): Promise<string> =>
  payOut(partner, `${mode} ${round}`, { reference: `switch:${mode}` })

const COMPLETED: readonly Mode[] = [
  ...(['paid', 'late', 'lost', 'lost_request', 'unknown', 'twice'] as const),
  ...(['bad_signature', 'oversized', 'message_rejected', 'duplicate', 'no_amount'] as const),
]

t.test('each misbehavior, while processes are killed', async (t) => {
  const paid: string[] = []
  const kills = ['rail', 'switch', 'processor'] as const
  for (const [round, victim] of kills.entries()) {
    const paying = Promise.all(COMPLETED.map((mode) => pay(mode, round)))
    const [ids] = await Promise.all([paying, stack.kill(victim)])
    paid.push(...ids)
  }
  for (const id of paid) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  const known = atSwitch()
  for (const id of paid) {
    t.match(known.get(id), { state: 'executed', repeatDiffers: false }, known.get(id)?.mode ?? id)
  }
  t.ok(
    [...known.values()].some(({ submissions }) => submissions > 1),
    'some came twice',
  )
})

t.test('both corridors, a refusal, a return', async (t) => {
  const [thai, vietnamese] = await Promise.all([
    payByQr(partner, 'thai'),
    payByQr(partner, 'vietnamese', { corridor: 'vn_vietqr' }),
  ])
  for (const { id } of [thai, vietnamese]) {
    await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  }
  const [refused, returned] = await Promise.all([pay('refused:AC06'), pay('returned')])
  await untilStatus(partner, `/v1/payouts/${refused}`, 'failed')
  const { body } = await partner.request('GET', `/v1/payouts/${refused}`)
  t.match(body, { failure: { code: 'destination_refused' } })
  await untilStatus(partner, `/v1/payouts/${returned}`, 'reversed')
})

t.test('another amount and a contradiction are discrepancies', async (t) => {
  const [wrong, contradictory] = await Promise.all([pay('wrong_amount'), pay('contradictory')])
  const { data } = await eventually('both are listed', async () => {
    const list = await ops.json('discrepancy list')
    return (list['data'] as object[]).length === 2 && list
  })
  const text = JSON.stringify(data)
  for (const id of [wrong, contradictory]) t.ok(text.includes(id))
  t.equal(atSwitch().get(contradictory)?.state, 'executed')
})

/** Account numbers, or aliases of PromptPay. */
const creditorAccountsIn = (text: string): string[] =>
  [...text.matchAll(/<CdtrAcct>[^]*?<Id>\s*(\d{6,})\s*</g)].map(([, account = '']) => account)

const creditorNamesIn = (text: string): string[] =>
  [...text.matchAll(/<Cdtr>\s*<Nm>\s*([^<]+?)\s*</g)].map(([, name = '']) => name)

t.test('the audit is clean; logs have no account, no name, and keys are ours alone', async (t) => {
  await assertCleanAudit(t, stack.dataDir)
  const messages = messagesIn(fileOf(FILES.switchMessages))
  t.ok(messages.length > 100)
  const accounts = new Set(messages.flatMap(({ text }) => creditorAccountsIn(text)))
  t.ok(accounts.size > 1, `accounts and aliases: ${accounts.size}`)
  const names = new Set(messages.flatMap(({ text }) => creditorNamesIn(text)))
  t.ok(names.size > 0, `names: ${names.size}`)
  for (const log of ['rail', 'switch'] as const) {
    for (const text of [...accounts, ...names]) t.notMatch(stack.logOf(log), text)
  }
  for (const name of ['adapter.key.pem', 'switch.signing.pem', 'adapter.signing.pem']) {
    t.equal(statSync(fileOf(join('iso20022', name))).mode & 0o777, 0o600)
  }
})
