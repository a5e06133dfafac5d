/**
 * Scenario: a QR payment from its creation to the partner's knowing that it is captured.
 *
 * Owns: the three requests and their order. The first is signed ahead; the other two carry the
 * session token of its answer.
 *
 * - No payment is a duplicate of another: a user who comes back pays another amount.
 */
import { promptPayCode } from '../../../src/operations/sample_qr.js'
import type { Answer } from '../client/answer_reader.js'
import { createAwaited } from './webhook_wait.js'
import {
  CREATED,
  createdIntent,
  intentRequests,
  PATH,
  USERS,
  type CreatedIntent,
  type CreateIntentsOptions,
} from './create_intents.js'
import { COMPLETED, unexpected, WAITING, type Next, type Scenario } from './scenario.js'

export interface PayByQrOptions extends CreateIntentsOptions {
  readonly awaitsWebhooks: boolean
}

const OK = 200
const SHOP = '0812345678'
/** Satang; some 2.80 dollars. */
const FIRST_AMOUNT = 10_000

interface Payment {
  readonly request: Buffer
  step: 'create' | 'scan' | 'confirm'
  intent: CreatedIntent
  amount: number
}

export function payByQr(options: PayByQrOptions): Scenario {
  const presigned = intentRequests(options)
  const code = promptPayCode(SHOP)
  const awaitedWebhooks = createAwaited()
  const nobody: CreatedIntent = { intent_id: '', session_token: '' }
  const payments = Array.from({ length: options.connections }, (): Payment => ({
    request: presigned.blank(),
    step: 'create',
    intent: nobody,
    amount: 0,
  }))
  let begun = 0
  let intents = 0

  const proceed = (connection: number, payment: Payment, answer: Answer): Next => {
    const wanted = payment.step === 'create' ? CREATED : OK
    if (answer.status !== wanted) return unexpected(answer)
    const { host } = options
    switch (payment.step) {
      case 'create':
        intents += 1
        payment.intent = createdIntent(answer.body)
        payment.step = 'scan'
        return sessionRequest(host, payment.intent, 'scan', '', scanBody(code, payment.amount))
      case 'scan':
        payment.step = 'confirm'
        return sessionRequest(host, payment.intent, 'confirm', payment.intent.intent_id, '')
      case 'confirm':
        if (!options.awaitsWebhooks) return COMPLETED
        return awaitedWebhooks.wait(connection, payment.intent.intent_id) ? COMPLETED : WAITING
    }
  }

  return {
    prepare: presigned.signAhead,
    last: presigned.last,
    begin: (connection) => {
      const payment = payments[connection]
      if (payment === undefined || !presigned.next(payment.request)) return undefined
      payment.step = 'create'
      payment.amount = FIRST_AMOUNT + Math.floor(begun / USERS)
      begun += 1
      return payment.request
    },
    proceed: (connection, answer) => {
      const payment = payments[connection]
      if (payment === undefined) throw new Error(`there is no connection ${connection}`)
      return proceed(connection, payment, answer)
    },
    hear: awaitedWebhooks.hear,
    abandon: awaitedWebhooks.abandon,
    acknowledged: () => ({ intents, payouts: 0, samples: [] }),
  }
}

const scanBody = (code: string, amount: number): string =>
  `{"qr_payload":"${code}","local_amount_minor_units":"${amount}"}`

function sessionRequest(
  host: string,
  { intent_id: id, session_token: token }: CreatedIntent,
  action: 'scan' | 'confirm',
  idempotencyKey: string,
  body: string,
): Buffer {
  const key = idempotencyKey === '' ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`
  return Buffer.from(
    `POST ${PATH}/${id}/${action} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\n${key}Content-Length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  )
}
