/**
 * The ceiling of a benchmark: a gateway without a processor.
 *
 * It handles a request like the gateway, then answers every command at once with a fixed body: an
 * upper bound for any processor. It checks no nonce and moves no money.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { childProcess } from '../../src/process/child.js'
import { systemClock } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { projectRoot } from '../../src/base/project_root.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { readSandbox } from '../../src/operations/calls/sandbox.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { createGatewayMetrics } from '../../gateway/metrics.js'
import type { Examples } from '../../gateway/openapi/examples.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import { bearer, TOKEN_SECRET } from '../gateway/signing_partner.js'

/** `sandbox.json` of the stack. */
const [, , credentials = '', port = ''] = process.argv
const { partner_id, key_id, signing_secret: secret } = readSandbox(credentials)

/** Recorded answers of the service. */
const recorded = JSON.parse(
  readFileSync(join(projectRoot(), 'gateway/openapi/examples.json'), 'utf8'),
) as Examples
const answerTo = (operation: string): unknown => recorded.operations[operation]?.[0]?.answer.body
const bodyOf = (operation: string): string => JSON.stringify(answerTo(operation))
const intent = answerTo('createPaymentIntent') as { readonly intent_id: string }
/** The session of every create, so its token is accepted. */
const tenant = tenantOf(partner_id as PartnerId, 'sandbox')
const session_token = bearer(intent.intent_id, 86_400, tenant).replace('Bearer ', '')
const page = { data: Array.from({ length: 20 }, () => answerTo('getPayout')), next_cursor: null }
const BODIES: readonly (readonly [keyof Command, string])[] = [
  ['create_intent', JSON.stringify({ ...intent, session_token })],
  ['scan_intent', bodyOf('scanQrCode')],
  ['confirm_intent', bodyOf('confirmPaymentIntent')],
  ['create_payout', bodyOf('createPayout')],
  ['get_payout', bodyOf('getPayout')],
  ['list_payouts', JSON.stringify(page)],
]
const OTHER = bodyOf('getPaymentIntent')
const bodyFor = (command: Command): string =>
  BODIES.find(([operation]) => command[operation] !== undefined)?.[1] ?? OTHER

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
  metrics: createGatewayMetrics(createMetrics(), {
    ...{ inFlight: () => 0, streamOpen: yes, directoryFresh: yes },
  }),
  ...{ clock: systemClock, random: systemRandom(), log },
})
await server.listen('127.0.0.1', Number(port))
childProcess({ log, stop: () => server.close(0) }).ready()
