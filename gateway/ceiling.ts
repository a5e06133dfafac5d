/**
 * The ceiling: a gateway without a processor. Used by the benchmark and nowhere else.
 *
 * It does all that the gateway does with a signed request, then answers every command at once with
 * one fixed body, so the rate it reaches is the most that any processor could make of this gateway.
 * It keeps nothing, checks no nonce and moves no money.
 *
 * `--credentials FILE` (a sandbox.json) names the one key it knows; `--port PORT` 0 takes a free
 * one.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { childProcess } from '../src/base/child.js'
import { systemClock } from '../src/base/clock.js'
import { createLog } from '../src/base/log.js'
import { systemRandom } from '../src/base/random.js'
import { readSettings } from '../src/base/settings.js'
import { createGateway } from './gateway.js'
import { createMetrics } from './metrics.js'
import { createPartners } from './partners.js'
import type { ProcessorClient } from './processor_client.js'

interface Credentials {
  readonly partner_id: string
  readonly key_id: string
  readonly signing_secret: string
}

/** As long as a real answer to a create. */
const BODY = JSON.stringify({
  intent_id: 'pi_01KA00000000000000000000000',
  status: 'created',
  amount_usd_cents: 1_000,
  corridor: 'th_promptpay',
  created_at: '2026-01-01T00:00:00.000Z',
  session_token: 'x'.repeat(280),
  session_expires_at: 1_767_225_600,
})

const echo: ProcessorClient = {
  submit: (_command, waiting) => waiting.settle('', BODY, false),
  open: true,
  inFlight: 0,
}

const { values: flags } = parseArgs({
  options: { credentials: { type: 'string' }, port: { type: 'string', default: '0' } },
})
if (flags.credentials === undefined) throw new Error('--credentials FILE is missing')
const credentials = JSON.parse(readFileSync(flags.credentials, 'utf8')) as Credentials
const partners = createPartners()
partners.apply({
  partners: [
    {
      partner_id: credentials.partner_id,
      suspended: false,
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
  token_keys: [],
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
  random: systemRandom(),
  log: createLog('ceiling', settings),
})
const port = await server.listen('127.0.0.1', Number(flags.port))
process.stdout.write(`ready: http://127.0.0.1:${port}\n`)
childProcess({ stop: () => server.close(0) }).ready({ port })
