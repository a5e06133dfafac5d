/**
 * The ceiling of a benchmark: a gateway without a processor.
 *
 * It handles a request like the gateway, then answers every command at once with a fixed body: an
 * upper bound for any processor. It checks no nonce and moves no money.
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { newTokenId } from '../../src/auth/secret_generation.js'
import { createTokenKeys, mintSessionToken } from '../../src/auth/token.js'
import { childProcess } from '../../src/base/child.js'
import { DAY, plus, systemClock, toEpochSeconds } from '../../src/base/clock.js'
import { tenantOf, type IntentId, type PartnerId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { programOptions } from '../../src/base/program_options.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/base/settings_reader.js'
import { readSandbox } from '../../src/operations/sandbox.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../gateway/metrics.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import type { ProcessorClient } from '../../gateway/upstream/processor_client.js'

const flags = programOptions('null_backend_gateway', 'A gateway without a processor.', {
  credentials: { value: 'FILE', about: 'sandbox.json of the stack', required: true },
  port: { value: 'PORT', kind: 'number', about: '0 takes a free one', fallback: 0 },
})
const { partner_id, key_id, signing_secret: secret } = readSandbox(flags.credentials)
const random = systemRandom()
const tokenKey = { kid: 'ceiling', secret: random.bytes(32) }

/** The session of every create, so its token is accepted. */
const INTENT_ID = 'pi_01KA00000000000000000000000' as IntentId
const sessionToken = mintSessionToken(createTokenKeys([tokenKey]), tokenKey.kid, {
  intentId: INTENT_ID,
  tenant: tenantOf(partner_id as PartnerId, 'sandbox'),
  jti: newTokenId(random),
  expiresAt: toEpochSeconds(plus(systemClock.now(), DAY)),
})

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

const echo: ProcessorClient = {
  submit: (command, waiting) => waiting.settle('', bodyFor(command), false),
  open: true,
  inFlight: 0,
}

const partners = createPartners()
const key = { key_id, environment: 'sandbox', secret, revoked_at: '0' }
const partner = { partner_id, keys: [key], allowed_ips: [], packages: [], rate_limit_per_second: 0 }
partners.apply({ partners: [partner], token_keys: [tokenKey] })

const yes = (): boolean => true
const settings = readSettings()
const server = createGateway({
  settings: { ...settings, RATE_LIMIT: 'off' },
  directory: { partners: () => partners, isComplete: yes, fresh: true },
  processor: echo,
  metrics: createMetrics({ inFlight: () => 0, streamOpen: yes, directoryFresh: yes }),
  ...{ clock: systemClock, random, log: createLog('ceiling', settings) },
})
const port = await server.listen('127.0.0.1', flags.port)
process.stdout.write(`ready: http://127.0.0.1:${port}\n`)
childProcess({ log: createLog('ceiling', settings), stop: () => server.close(0) }).ready({ port })
