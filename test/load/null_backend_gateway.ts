/**
 * The ceiling: a gateway without a processor. Used by the benchmark and nowhere else.
 *
 * It does all that the gateway does with a request, then answers every command at once with the
 * fixed body of its kind, so the rate it reaches is the most that any processor could make of this
 * gateway. It keeps nothing, checks no nonce and moves no money.
 *
 * `--credentials FILE` (a sandbox.json) names the one key it knows; `--port PORT` 0 takes a free
 * one.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Command } from '../../protos/types/causeway/v1/Command.js'
import { newTokenId } from '../../src/auth/secret_generation.js'
import { createTokenKeys, mintSessionToken } from '../../src/auth/token.js'
import { childProcess } from '../../src/base/child.js'
import { DAY, plus, systemClock, toEpochSeconds } from '../../src/base/clock.js'
import { tenantOf, type IntentId, type PartnerId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/base/settings.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../gateway/metrics.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import type { ProcessorClient } from '../../gateway/upstream/processor_client.js'

interface Credentials {
  readonly partner_id: string
  readonly key_id: string
  readonly signing_secret: string
}

const { values: flags } = parseArgs({
  options: { credentials: { type: 'string' }, port: { type: 'string', default: '0' } },
})
if (flags.credentials === undefined) throw new Error('--credentials FILE is missing')
const credentials = JSON.parse(readFileSync(flags.credentials, 'utf8')) as Credentials
const random = systemRandom()
const tokenKey = { kid: 'ceiling', secret: random.bytes(32) }

/** The one session that every create opens, so that its token passes at the gateway. */
const INTENT_ID = 'pi_01KA00000000000000000000000' as IntentId
const sessionToken = mintSessionToken(createTokenKeys([tokenKey]), tokenKey.kid, {
  intentId: INTENT_ID,
  tenant: tenantOf(credentials.partner_id as PartnerId, 'sandbox'),
  jti: newTokenId(random),
  expiresAt: toEpochSeconds(plus(systemClock.now(), DAY)),
})

const MOMENT = '2026-01-01T00:00:00.000Z'
const INTENT = {
  intent_id: INTENT_ID,
  status: 'created',
  amount_usd_cents: 1_000,
  corridor: 'th_promptpay',
  created_at: MOMENT,
}
const QUOTE = {
  quote_id: 'qt_01KA00000000000000000000000',
  quote_version: 1,
  amount_usd_cents: 278,
  local_amount_minor_units: '10000',
  local_currency: '764',
  expires_at: 1_767_225_600_000,
}
const PAYOUT = {
  id: 'pout_01KA00000000000000000000000',
  status: 'completed',
  amount: '125000',
  recipient_amount: '125000',
  currency: 'VND',
  fee_details: { service: '5250', rail: '3300' },
  fee: '8550',
  total: '133550',
  reference: 'invoice 0001',
  beneficiary: {
    id: 'ben_01KA00000000000000000000000',
    name: 'Nguyen Van A',
    account_last4: '6789',
  },
  rail: { type: 'bank_transfer', transaction_id: 'sbx_000000000000000000000000' },
  metadata: { order: 'from the load tool' },
  created_at: MOMENT,
  processing_at: MOMENT,
  completed_at: MOMENT,
  failed_at: null,
  reversed_at: null,
  failure: null,
}
const PAGE = 20

/** As long as real answers; what has none of its own is answered as an intent. */
const ANSWERS = {
  create_intent: { ...INTENT, session_token: sessionToken, session_expires_at: 1_767_225_600 },
  scan_intent: { ...INTENT, merchant: { name: 'Shop', country: 'TH' }, quote: QUOTE },
  confirm_intent: { ...INTENT, status: 'authorized', authorized_at: MOMENT, quote: QUOTE },
  create_payout: { ...PAYOUT, status: 'processing' },
  get_payout: PAYOUT,
  list_payouts: { data: Array.from({ length: PAGE }, () => PAYOUT), next_cursor: null },
} as const satisfies Partial<Record<keyof Command, object>>
const BODIES = Object.entries(ANSWERS).map(
  ([operation, answer]) => [operation as keyof typeof ANSWERS, JSON.stringify(answer)] as const,
)
const OTHERS = JSON.stringify(INTENT)

const bodyFor = (command: Command): string =>
  BODIES.find(([operation]) => command[operation] !== undefined)?.[1] ?? OTHERS

const echo: ProcessorClient = {
  submit: (command, waiting) => waiting.settle('', bodyFor(command), false),
  open: true,
  inFlight: 0,
}

const partners = createPartners()
partners.apply({
  partners: [
    {
      partner_id: credentials.partner_id,
      keys: [
        {
          key_id: credentials.key_id,
          environment: 'sandbox',
          secret: credentials.signing_secret,
          revoked_at: '0',
        },
      ],
      allowed_ips: [],
      packages: [],
      rate_limit_per_second: 0,
    },
  ],
  token_keys: [tokenKey],
  complete: true,
})

const settings = readSettings()
const server = createGateway({
  settings: { ...settings, RATE_LIMIT: 'off' },
  directory: { partners: () => partners, fresh: true },
  processor: echo,
  metrics: createMetrics({
    inFlight: () => 0,
    streamOpen: () => true,
    directoryFresh: () => true,
  }),
  clock: systemClock,
  random,
  log: createLog('ceiling', settings),
})
const port = await server.listen('127.0.0.1', Number(flags.port))
process.stdout.write(`ready: http://127.0.0.1:${port}\n`)
childProcess({ stop: () => server.close(0) }).ready({ port })
