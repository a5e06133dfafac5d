/**
 * A stack behind a screening service, while the processor is killed between the service's answer
 * and the commit: the same key gets the same decision, and nothing is paid twice.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import type { ScreenRequest__Output as ScreenRequest } from '../../protos/types/causeway/screening/v1/ScreenRequest.js'
import type { ScreeningHandlers } from '../../protos/types/causeway/screening/v1/Screening.js'
import { newCallerToken } from '../../src/auth/caller_token.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { systemRandom } from '../../src/base/random.js'
import { startScreening } from '../../src/screening/sandbox/server.js'
import { decisionByReference } from '../../src/screening/screening.js'
import { assertCleanAudit } from '../support/audit.js'
import { withKey, type HttpAnswer } from '../support/partner.js'
import {
  intentIn,
  payByQr,
  payOut,
  requestIntent,
  requestPayout,
  retryUntilFinal,
  untilStatus,
} from '../support/payments.js'
import { scanOf } from '../support/requests.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { tempFolder } from '../support/temp_folder.js'

const address = `unix:${join(tempFolder(t), 'screening.sock')}`
const token = newCallerToken('processor', systemRandom())

type Answer = Parameters<ScreeningHandlers['Screen']>[1]

/** The decision of each question, as a service keeps it. */
const decisions = new Map<string, string>()
const asked: ScreenRequest[] = []
let isOut = false
let afterAnswer: () => void = () => undefined

function screen({ request }: { readonly request: ScreenRequest }, answer: Answer): void {
  if (isOut) return answer({ code: status.UNAVAILABLE })
  asked.push(request)
  const decision = decisions.get(request.id) ?? decisionByReference(request.reference)
  decisions.set(request.id, decision)
  answer(null, { decision })
  afterAnswer()
}

const server = await startScreening({
  ...{ address, tls: CLEARTEXT, handlers: { Screen: screen } },
  callers: createCallers(
    [configuredCaller(callerEntry('processor', 'processor', token))],
    systemClock,
  ),
})
t.teardown(server.close)
const settings = {
  ...{ SCREENING_ADDRESS: address, SCREENING_TOKEN: token, SCREENING_TIMEOUT_MS: '3000' },
  ...{ RATE_LIMIT: 'off', WEBHOOK_ALLOW_PRIVATE: 'false' },
}
const stack = await startSupervisedStack(settings, t)
const { partner, ops } = stack

const tryPayout = (key: string, reference: string): Promise<HttpAnswer> =>
  requestPayout(partner, key, { reference })

const codeOf = ({ body }: HttpAnswer): unknown => (body as { error?: { code: string } }).error?.code

/** Kills the processor this long after the next answer, and waits for its successor. */
async function killedAfterAnswer(ms: number, pay: () => Promise<void>): Promise<void> {
  const killed = new Promise<void>((resolve, reject) => {
    afterAnswer = () => {
      afterAnswer = () => undefined
      // At once: before the answer can have been read.
      const killing =
        ms === 0 ? stack.kill('processor') : pause(ms).then(() => stack.kill('processor'))
      void killing.then(resolve, reject)
    }
  })
  await Promise.all([pay(), killed])
}

t.test('the processor is killed between the answer and the commit', async (t) => {
  const paid: string[] = []
  for (const ms of [0, 1, 2, 4, 7]) {
    await killedAfterAnswer(ms, async () => {
      const key = `killed ${ms}`
      const rejected = (): Promise<HttpAnswer> =>
        retryUntilFinal(() => tryPayout(`${key} rejected`, 'sandbox:risk'))
      const [payout, intent, first] = await Promise.all([
        payOut(partner, key),
        payByQr(partner, key),
        rejected(),
      ])
      paid.push(`/v1/payouts/${payout}`, `/v1/payment_intents/${intent.id}`)
      t.equal(codeOf(first), 'risk_rejected')
      t.equal(codeOf(await rejected()), 'risk_rejected', 'the same key, the same decision')
      t.equal(await payOut(partner, key), payout, 'the same key, the same payout')
    })
  }
  for (const path of paid)
    await untilStatus(partner, path, path.includes('payouts') ? 'completed' : 'captured')
  t.ok(asked.length > decisions.size, 'some questions came twice')
  t.equal(decisions.size, 15, 'each with the id of its key')
})

t.test('while the service is out payouts are held, and decided by an operator', async (t) => {
  const { id, token } = intentIn(await requestIntent(partner, 'create out'))
  const app = partner.session(token)
  await app.request('POST', `/v1/payment_intents/${id}/scan`, scanOf())
  const confirm = (): Promise<HttpAnswer> =>
    app.request('POST', `/v1/payment_intents/${id}/confirm`, undefined, withKey('confirm out'))

  isOut = true
  const [held, refused] = await Promise.all([tryPayout('out', 'invoice 7'), confirm()])
  t.match(held, { status: 202, body: { status: 'created' } })
  t.equal(refused.status, 503)
  isOut = false

  await stack.kill('processor')
  t.match(await retryUntilFinal(() => tryPayout('out', 'invoice 7')), { body: held.body })
  t.match(await confirm(), { status: 200, body: { status: 'authorized' } })
  const { data } = await ops.json('payout held')
  t.match(data, [{ cause: 'screening_unavailable' }])
  const payout = (held.body as { id: string }).id
  await ops.json('payout approve', payout, '--reason', 'screened by hand')
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
})

t.test('the audit is clean: each payment was executed once', async (t) => {
  await assertCleanAudit(t, stack.dataDir)
})
