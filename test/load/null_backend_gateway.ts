/**
 * The ceiling of a benchmark: a gateway without a processor.
 *
 * It handles a request like the gateway, then answers every command at once with a fixed body: an
 * upper bound for any processor. It checks no nonce and moves no money.
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { childProcess } from '../../src/base/child.js'
import { systemClock } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/base/settings_reader.js'
import { readSandbox } from '../../src/operations/sandbox.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../gateway/metrics.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import { bearer, TOKEN_SECRET } from '../gateway/signing_partner.js'

/** `sandbox.json` of the stack. */
const [, , credentials = '', port = ''] = process.argv
const { partner_id, key_id, signing_secret: secret } = readSandbox(credentials)

/** The session of every create, so its token is accepted. */
const INTENT_ID = 'pi_01KA00000000000000000000000'
const tenant = tenantOf(partner_id as PartnerId, 'sandbox')
const sessionToken = bearer(INTENT_ID, 86_400, tenant).replace('Bearer ', '')

/** Bodies of realistic length; operations without one are answered with an intent. */
const INTENT =
  `"intent_id":"${INTENT_ID}","status":"created","amount_usd_cents":1000,` +
  '"corridor":"th_promptpay","created_at":"2026-01-01T00:00:00.000Z"'
const QUOTE =
  '"quote":{"quote_id":"qt_01KA00000000000000000000000","quote_version":1,"amount_usd_cents":278,' +
  '"local_amount_minor_units":"10000","local_currency":"764","expires_at":1767225600000}'
const PAYOUT =
  '{"id":"pout_01KA00000000000000000000000","status":"completed","amount":"125000",' +
  '"recipient_amount":"125000","currency":"VND","fee_details":{"service":"5250","rail":"3300"},' +
  '"fee":"8550","total":"133550","reference":"invoice 0001","beneficiary":{' +
  '"id":"ben_01KA00000000000000000000000","name":"Nguyen Van A","account_last4":"6789"},' +
  '"rail":{"type":"bank_transfer","transaction_id":"sbx_000000000000000000000000"},' +
  '"metadata":{"order":"from the load tool"},"created_at":"2026-01-01T00:00:00.000Z",' +
  '"processing_at":"2026-01-01T00:00:00.000Z","completed_at":"2026-01-01T00:00:00.000Z",' +
  '"failed_at":null,"reversed_at":null,"failure":null}'
const session = `"session_token":"${sessionToken}","session_expires_at":1767225600`
const page = `{"data":[${Array.from({ length: 20 }, () => PAYOUT).join()}],"next_cursor":null}`
const BODIES: readonly (readonly [keyof Command, string])[] = [
  ['create_intent', `{${INTENT},${session}}`],
  ['scan_intent', `{${INTENT},"merchant":{"name":"Shop","country":"TH"},${QUOTE}}`],
  ['confirm_intent', `{${INTENT},"authorized_at":"2026-01-01T00:00:00.000Z",${QUOTE}}`],
  ['create_payout', PAYOUT],
  ['get_payout', PAYOUT],
  ['list_payouts', page],
]
const bodyFor = (command: Command): string =>
  BODIES.find(([operation]) => command[operation] !== undefined)?.[1] ?? `{${INTENT}}`

const partners = createPartners()
const key = { key_id, environment: 'sandbox', secret, revoked_at: '0' }
const partner = { partner_id, keys: [key], allowed_ips: [], packages: [], rate_limit_per_second: 0 }
partners.apply({ partners: [partner], token_keys: [TOKEN_SECRET] })

const yes = (): boolean => true
const settings = readSettings()
const log = createLog('ceiling', settings)
const server = createGateway({
  settings: { ...settings, RATE_LIMIT: 'off' },
  directory: { partners: () => partners, isComplete: yes, fresh: true },
  processor: {
    submit: (command, waiting) => waiting.settle('', bodyFor(command), false),
    ...{ open: true, inFlight: 0 },
  },
  metrics: createMetrics({ inFlight: () => 0, streamOpen: yes, directoryFresh: yes }),
  ...{ clock: systemClock, random: systemRandom(), log },
})
await server.listen('127.0.0.1', Number(port))
childProcess({ log, stop: () => server.close(0) }).ready()
