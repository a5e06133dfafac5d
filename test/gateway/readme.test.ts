/** Runs the examples of the partner guide and compares its tables with the code. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { FAILURE_TEXTS } from '../../actors/failure_texts.js'
import { ATTEMPT_WITHIN_MS } from '../../actors/webhook/sending/sender.js'
import { PLANS } from '../../src/ledger/plans.js'
import { SECOND } from '../../src/base/clock.js'
import {
  ANSWER_WITHIN_MS,
  BODY_MAX_BYTES,
  BODY_WITHIN_MS,
  PAYOUT_BODY_MAX_BYTES,
  SCAN_BODY_MAX_BYTES,
} from '../../src/base/constants.js'
import { ERRORS, OPERATOR_ERRORS } from '../../src/base/errors.js'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { CONNECTIONS_MAX, TENANT_IN_FLIGHT_MAX } from '../../gateway/admission/limits.js'
import type { SignatureReport } from '../../src/auth/signature_check.js'
import { guidePage } from '../support/operators_guide.js'
import { partnerGuidePage, wholePartnerGuide } from '../support/partner_guide.js'
import { SIGNATURE_VECTORS } from '../support/signature_vectors.js'
import { call, KEY_ID, SECRET } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const textOf = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8')
const GUIDE = wholePartnerGuide()
const run = promisify(execFile)

/** The table of the guide that has this head. */
function tableOf(head: string): string {
  const from = GUIDE.indexOf(head)
  return GUIDE.slice(from, GUIDE.indexOf('\n\n', from))
}

function example(page: string, language: string): string {
  const fence = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's')
  const [, code] = fence.exec(partnerGuidePage(page)) ?? []
  if (code === undefined) throw new Error(`no example in ${language} in ${page}`)
  return code
}

t.test('the program of the quick start creates an intent', async (t) => {
  const { port, processorStub } = await startGateway(t)
  const folder = t.testdir({ 'create.mjs': example('first-request', 'js') })
  const sandbox = join(folder, 'sandbox.json')
  const base_url = `http://127.0.0.1:${port}`
  writeFileSync(sandbox, JSON.stringify({ base_url, key_id: KEY_ID, signing_secret: SECRET }))
  const env = { SANDBOX: sandbox }
  const { stdout } = await run(process.execPath, [join(folder, 'create.mjs')], { env })
  t.match(stdout, /^201 /)
  t.equal(processorStub.commands[0]?.operation, 'create_intent')
})

const missing = ['curl', 'openssl'].filter(
  (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
)

t.test(
  'the shell example does the same',
  { skip: missing.length > 0 && `not installed: ${missing.join(', ')}` },
  async (t) => {
    const { port, processorStub } = await startGateway(t)
    const BASE_URL = `http://127.0.0.1:${port}`
    const env = { PATH: process.env['PATH'], BASE_URL, KEY_ID, SIGNING_SECRET: SECRET }
    const { stdout } = await run('sh', ['-c', example('first-request', 'sh')], { env })
    t.match(stdout, 'create_intent')
    t.equal(processorStub.commands.length, 1)
  },
)

t.test(
  'the table of errors has every code that partners receive, with status and retry',
  async (t) => {
    const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` \| ([0-9]{3}) \| .+ \| .+ \| (yes|no) \|$/gm)]
    const documented = Object.fromEntries(
      rows.map(([, code = '', http = '', retry = '']) => [code, `${http} ${retry}`]),
    )
    const registry = Object.fromEntries(
      Object.entries(ERRORS)
        .filter(([code]) => !Object.hasOwn(OPERATOR_ERRORS, code))
        .map(([code, { http, retryable }]) => [code, `${http} ${retryable ? 'yes' : 'no'}`]),
    )
    t.same(documented, registry)
    t.equal(rows.length, Object.keys(registry).length, 'each code once')
  },
)

t.test('the operators’ guide has the other codes', async (t) => {
  const rows = [
    ...guidePage('Error codes').text.matchAll(
      /^\| `([a-z_]+)` \| [0-9]{3} \| ([A-Z_]+) \| .+ \|$/gm,
    ),
  ]
  t.same(
    Object.fromEntries(rows.map(([, code, grpc]) => [code, grpc])),
    Object.fromEntries(Object.entries(OPERATOR_ERRORS).map(([code, { grpc }]) => [code, grpc])),
  )
  const retryable = Object.values(OPERATOR_ERRORS).some((entry) => entry.retryable)
  t.notOk(retryable, 'the guide lists no retryable code')
})

/** The unit of each field that the OpenAPI document gives one. */
function documentedUnits(): ReadonlyMap<string, ReadonlySet<string>> {
  const { components } = JSON.parse(textOf('gateway/openapi.json')) as { components: object }
  const units = new Map<string, Set<string>>()
  const visit = (part: unknown, field: string): void => {
    if (typeof part !== 'object' || part === null) return
    const { $ref, oneOf, properties, ...others } = part as Readonly<Record<string, unknown>>
    const [, unit] = typeof $ref === 'string' ? ($ref.match(UNIT) ?? []) : []
    if (unit !== undefined) units.set(field, (units.get(field) ?? new Set()).add(unit))
    visit((oneOf as readonly unknown[] | undefined)?.[0], field)
    // The guide names the members of this one together.
    const isFees = field === 'fee_details'
    for (const [name, member] of Object.entries(properties ?? {})) {
      visit(member, isFees ? field : name)
    }
    for (const [name, member] of Object.entries(others)) visit(member, isFees ? field : name)
  }
  visit(components, '')
  return units
}

/** The row of moments. */
const ALL_MOMENTS = /all others that end in `_at`/
const UNIT = /\/(UsdCents|MinorUnits|Timestamp|EpochSeconds|EpochMilliseconds)$/

t.test('the table of units has every field of the document with its unit', async (t) => {
  const rows = tableOf('| Field | Unit | Example |').split('\n').slice(2)
  const words: Readonly<Record<string, RegExp>> = {
    UsdCents: /whole US cents/,
    MinorUnits: /minor units .*decimal text/,
    Timestamp: /RFC 3339/,
    EpochSeconds: /epoch \*\*seconds\*\*/,
    EpochMilliseconds: /epoch \*\*milliseconds\*\*/,
  }
  const fields = documentedUnits()
  t.ok(fields.size > 30)
  for (const [field, units] of fields) {
    for (const unit of units) {
      const row = rows.find((each) => {
        const [, names = '', meaning = ''] = each.split('|')
        const isNamed =
          names.includes(`\`${field}\``) || (field.endsWith('_at') && ALL_MOMENTS.test(names))
        return isNamed && words[unit]?.test(meaning)
      })
      t.ok(row, `${field}: ${unit}`)
    }
  }
})

for (const language of ['swift', 'kotlin']) {
  t.test(`the app in ${language} stores its key, then confirms, then polls`, async (t) => {
    const app = example('mobile', language)
    for (const path of ['/scan', '/confirm', 'GET', 'Idempotency-Key', 'quote_version']) {
      t.ok(app.includes(path), path)
    }
    const storedAt = app.indexOf('store(pending)')
    t.ok(storedAt >= 0 && storedAt < app.indexOf('resume(pending)'), 'the key is stored first')
  })
}

t.test('the table of failures has every code with its text', async (t) => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` \| (true|false) \| (.+) \|$/gm)]
  const texts = Object.entries(FAILURE_TEXTS).map(([code, { retryable, message }]) => {
    return [code, String(retryable), message]
  })
  const documented = rows.map(([, code, retryable, message]) => [code, retryable, message])
  t.same(documented, texts)
})

t.test('the table of balance transactions has every type', async (t) => {
  const table = tableOf('| Type | What moved |')
  const documented = [...table.matchAll(/`([a-z]+_?[a-z]+)`(?=[,` a-z_]* \|)/g)].map(
    ([, plan]) => plan,
  )
  const plans = Object.entries(PLANS)
    .filter(([, lines]) => lines.some(([kind]) => kind === 'prefund' || kind === 'reserved'))
    .map(([plan]) => plan)
  t.same(documented.sort(), plans.sort())
})

t.test('the vectors of the guide are published ones', async (t) => {
  const shown = JSON.parse(example('signing', 'json')) as { name: string }[]
  t.ok(shown.length > 1)
  for (const each of shown) {
    const published = SIGNATURE_VECTORS.find(({ name }) => name === each.name)
    t.same(each, published, each.name)
  }
})

t.test('the limits are those of the code', async (t) => {
  const table = GUIDE.slice(GUIDE.indexOf('## Limits'), GUIDE.indexOf('**Source addresses.**'))
  const figures = [...table.matchAll(/^\| ([0-9,]+) /gm)].map(([, figure]) => figure)
  const { RATE_LIMIT_PER_SECOND: ofKey, RATE_LIMIT_PER_ADDRESS: ofAddress } = SETTINGS
  const limits = [ofKey.fallback, TENANT_IN_FLIGHT_MAX, ofAddress.fallback, CONNECTIONS_MAX]
  const inWords = limits.map((limit) => Number(limit).toLocaleString('en'))
  t.same(figures, inWords)
})

t.test('the sizes and times of the text are those of the code', async (t) => {
  const [kib, s] = [(bytes: number) => bytes / 1024, (ms: number) => ms / SECOND]
  const [payout, scan, other] = [PAYOUT_BODY_MAX_BYTES, SCAN_BODY_MAX_BYTES, BODY_MAX_BYTES].map(
    kib,
  )
  const page = (name: string): string => partnerGuidePage(name).replaceAll(/\s+/g, ' ')
  t.match(
    page('operations'),
    `sizes: payouts ${payout} KiB, scan ${scan} KiB, all others ${other} KiB.`,
  )
  t.match(page('errors'), `| no answer in ${s(ANSWER_WITHIN_MS)} seconds; the outcome is unknown |`)
  t.match(page('errors'), 'about ten seconds, and a body that stalls after five.')
  t.equal(s(BODY_WITHIN_MS), 5)
  t.match(page('webhooks'), `${s(ATTEMPT_WITHIN_MS)} seconds without an answer and 5xx are retried`)
})

t.test('the table of signature checks has every check in order', async (t) => {
  const { port } = await startGateway(t)
  const { json } = await call(port, { method: 'POST', path: '/v1/sandbox/signature/check' })
  const { checks } = json as SignatureReport
  const table = tableOf('| Check |')
  t.same(
    [...table.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, check]) => check),
    checks.map(({ check }) => check),
  )
})
