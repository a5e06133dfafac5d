/**
 * Commands for partners, keys and signatures in the process of the test, against a running stack.
 * The last test checks that the CLI has them.
 */
import { userInfo } from 'node:os'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { deposit, depositCorrect, withdraw } from '../../src/operations/money/funds.js'
import { actions } from '../../src/operations/operators/actions.js'
import { keyIssue, partnerCreate } from '../../src/operations/partners/changes.js'
import type { CliCommand, Context, Report } from '../../src/operations/cli/command.js'
import { COMMANDS } from '../../src/operations/commands.js'
import { keyList, keyRevoke } from '../../src/operations/partners/keys.js'
import { masterKeyList, masterKeyReencrypt } from '../../src/operations/installation/master_keys.js'
import {
  connectApprovals,
  connectCallers,
  connectOperator,
  connectPartnerAdmin,
  connectRecovery,
  connectWebhookAdmin,
} from '../../src/operations/calls/operator_client.js'
import type { Flags } from '../../src/operations/cli/options.js'
import type { SignedRequest } from '../../src/client/index.js'
import {
  partnerAllowIps,
  partnerCorridors,
  partnerList,
  partnerPackages,
  partnerRateLimit,
  partnerResume,
  partnerSuspend,
} from '../../src/operations/partners/partners.js'
import { partnerEraseUser, partnerErasures } from '../../src/operations/partners/user_erasures.js'
import { sign } from '../../src/operations/partners/sign.js'
import { terminalText } from '../../src/operations/cli/terminal.js'
import { verify } from '../../src/operations/partners/verify.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, usageError } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, withKey } from '../support/partner.js'
import { anIntent, aPayout } from '../support/requests.js'
import { startStack } from '../support/stack.js'

const DAY_MS = 86_400_000

t.setTimeout(0)
const stack = await startStack({ t, dataDir: tempFolder(t) })
const access = operatorAccessOf(stack)
const context: Omit<Context, 'flags'> = {
  sandbox: stack.sandbox,
  access,
  operator: connectOperator(access, systemClock),
  partners: connectPartnerAdmin(access, systemClock),
  webhooks: connectWebhookAdmin(access, systemClock),
  recovery: connectRecovery(access, systemClock),
  callers: connectCallers(access, systemClock),
  approvals: connectApprovals(access, systemClock),
  clock: systemClock,
  paint: (_style, text) => text,
  out: process.stdout,
  tell: () => undefined,
  confirm: () => Promise.resolve(),
  logs: '',
  servesProduction: false,
}
t.teardown(() => {
  context.operator.close()
  context.partners.close()
  context.webhooks.close()
  context.recovery.close()
  context.callers.close()
  context.approvals.close()
})

/** @param words the arguments of the command */
const run = (command: CliCommand, words = '', flags: Flags = {}): Promise<Report> =>
  command.run({ ...context, flags }, words === '' ? [] : words.split(' '))
const linesOf = async (...args: Parameters<typeof run>): Promise<string> =>
  terminalText((await run(...args)).lines)
const valueOf = async (...args: Parameters<typeof run>): Promise<Record<string, unknown>> =>
  (await run(...args)).value as Record<string, unknown>

const created = await valueOf(partnerCreate, 'acme', { corridors: 'th_promptpay,vn_vietqr' })
const first = created['sandbox_key'] as { key_id: string; secret: string }

interface Key {
  readonly key_id: string
  readonly status: string
  readonly created_at: string
  readonly revoked_at?: string
}

t.test('the rules of a partner are changed and listed', async (t) => {
  const changes: readonly (readonly [CliCommand, words: string, changed: object])[] = [
    [partnerSuspend, 'acme', { suspended: true }],
    [partnerResume, 'acme', { suspended: false }],
    [
      partnerAllowIps,
      'acme 203.0.113.0/24,2001:db8::/32,203.0.113.0/24',
      { allowed_ips: ['203.0.113.0/24', '2001:db8::/32'] },
    ],
    [partnerPackages, 'acme com.acme.pay', { packages: ['com.acme.pay'] }],
    [partnerCorridors, 'acme vn_vietqr', { corridors: ['vn_vietqr'] }],
    [partnerCorridors, 'acme none', { corridors: [] }],
    [partnerRateLimit, 'acme 50', { rate_limit_per_second: 50 }],
  ]
  for (const [command, words, changed] of changes) {
    t.match(await valueOf(command, words), { partner_id: 'acme', ...changed }, words)
  }
  const listed = await linesOf(partnerList)
  t.match(listed, /^acme +active +none +203\.0\.113\.0\/24 2001:db8::\/32 +com\.acme\.pay +50 /m)
  t.match(listed, /^demo +active +th_promptpay vn_vietqr +any +any +default /m)
  t.match(await valueOf(partnerAllowIps, 'acme none'), { allowed_ips: [] })
  t.match(await valueOf(partnerPackages, 'acme none'), { packages: [] })
  await t.rejects(run(partnerSuspend, 'nobody'), /^partner_not_found/)
})

t.test('a suspension reaches the gateway', async (t) => {
  const acme = partnerOf(stack.sandbox, { keyId: first.key_id, secret: first.secret })
  const intent = { ...anIntent(), corridor: 'vn_vietqr' }
  const answered = (status: number, code?: string): Promise<unknown> =>
    eventually(`${status} ${code}`, async () => {
      const answer = await acme.request('POST', '/v1/payment_intents', intent)
      const { error } = answer.body as { error?: { code: string } }
      return answer.status === status && error?.code === code
    })
  await run(partnerCorridors, 'acme vn_vietqr')
  await run(partnerSuspend, 'acme')
  await answered(403, 'partner_suspended')
  await run(partnerResume, 'acme')
  await answered(201)
  t.pass()
})

t.test(
  'a partner has three keys at most, older ones end in 14 days, and a revocation is final',
  async (t) => {
    const issued = await valueOf(keyIssue, 'acme sandbox')
    const [older, newer] = (await valueOf(keyList, 'acme sandbox'))['data'] as Key[]
    t.match([older, newer], [{ status: 'retiring' }, { status: 'active' }])
    const overlap = Date.parse(older?.revoked_at ?? '') - Date.parse(newer?.created_at ?? '')
    t.equal(overlap, 14 * DAY_MS)
    await run(keyIssue, 'acme sandbox')
    const fourth = run(keyIssue, 'acme sandbox')
    await t.rejects(fourth, /^signing_key_limit: Three signing keys are active\./)

    const keyId = String(issued['key_id'])
    const holder = partnerOf(stack.sandbox, { keyId, secret: String(issued['secret']) })
    const status = async (): Promise<number> => (await holder.request('GET', '/v1/balances')).status
    await eventually('the key is accepted', async () => (await status()) === 200)
    t.match(await valueOf(keyRevoke, keyId), { key_id: keyId, status: 'revoked' })
    await eventually('the key is refused', async () => (await status()) === 401)
    await t.rejects(run(keyRevoke, keyId), /^signing_key_revoked/)
    const listed = await linesOf(keyList, 'acme sandbox')
    t.match(listed, new RegExp(`^${keyId} +revoked +issued \\S+ +at `, 'm'))
    t.notMatch(listed, 'sk_')
    const fifth = await valueOf(keyIssue, 'acme sandbox')
    t.not(fifth['key_id'], keyId, 'a revoked key frees a slot, its id is not reused')
    t.match(await linesOf(keyList, 'acme production'), 'acme has no key for production.')
  },
)

t.test('the action log has the authenticated operator and the reason', async (t) => {
  const { username } = userInfo()
  await run(partnerRateLimit, 'acme 60', { as: username, reason: 'ticket 7' })
  const another = run(partnerRateLimit, 'acme 70', { as: 'ada', reason: 'ticket 8' })
  await t.rejects(another, /^operator_name_differs: .+ another operator/)
  const listed = await linesOf(actions)
  const line = new RegExp(`^\\S+Z +${username} +partner_rate_limit +acme 60 +ticket 7$`)
  t.match(listed.split('\n')[0], line)
  const { data } = await valueOf(actions)
  t.match(data, [{ actor: username, reason: 'ticket 7', action: 'partner_rate_limit' }])
  const countOf = async (flags: Flags): Promise<number> =>
    ((await valueOf(actions, '', flags))['data'] as unknown[]).length
  const all = await countOf({})
  t.equal(await countOf({ by: username }), all)
  t.equal(await countOf({ subject: 'acme 60', action: 'partner_rate_limit', by: username }), 1)
  t.ok((await countOf({ action: 'partner_rate_limit' })) < all)
  t.equal(await linesOf(actions, '', { by: 'nobody' }), 'No such actions.')
})

t.test('usage errors are reported', async (t) => {
  const faults: readonly (readonly [CliCommand, words: string, fault: string, Flags?])[] = [
    [partnerAllowIps, 'acme 203.0.113.7', 'write 203.0.113.7/32 for this address alone'],
    [partnerAllowIps, 'acme 2001:db8::1', 'write 2001:db8::1/128 for this address alone'],
    [partnerAllowIps, 'acme 203.0.113.0/33', '203.0.113.0/33 is not a CIDR block'],
    [partnerPackages, 'acme com/acme', 'com/acme is not an app id'],
    [partnerCorridors, 'acme th_promptpay,xx', 'xx is not a corridor: use th_promptpay'],
    [partnerRateLimit, 'acme 1000001', '1000001 is not a rate: a whole number from 0 to 1000000'],
    [partnerRateLimit, 'acme 1.5', '1.5 is not a rate'],
    [partnerCreate, 'acme', 'acme exists already'],
    [partnerCreate, 'Acme_2', 'Acme_2 is not a name'],
    [partnerCreate, 'new', 'This needs --corridors, comma-separated, of th_promptpay, vn_vietqr'],
    [partnerCreate, 'new', 'xx is not a corridor', { corridors: 'vn_vietqr,xx' }],
    [keyIssue, 'unknown sandbox', 'There is no partner unknown'],
    [keyList, 'acme live', 'live is not an environment: sandbox or production'],
    [sign, 'GET v1/balances', 'v1/balances is not a path'],
    [keyRevoke, 'acme', 'acme is not a key id'],
    [keyRevoke, 'acme_production_2026q4', 'A change of production needs --reason TEXT'],
    [verify, 'GET /v1/balances', 'X is not a header', { header: ['X'] }],
    [verify, 'GET /v1/balances', 'nowhere.json', { body: 'nowhere.json' }],
  ]
  for (const [command, words, message, flags] of faults) {
    const attempt = async (): Promise<Report> => run(command, words, flags)
    await t.rejects(attempt, { name: 'CommandFault', message: new RegExp(escaped(message)) }, words)
  }
})

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

t.test('every secret is encrypted with the only master key', async (t) => {
  const { data } = await valueOf(masterKeyList)
  // One signing key of the demo, four of acme.
  t.match(data, [{ kid: /^k[0-9a-f]{8}$/, in_file: true, values: 5 }])
  t.equal((data as unknown[]).length, 1)
  t.match(await linesOf(masterKeyReencrypt), /^k\w+ +5 values +encrypts since /)
})

t.test('a deposit and its like show their key before the call', async (t) => {
  for (const [command, words] of [
    [deposit, 'acme sandbox USD 5'],
    [withdraw, 'acme sandbox USD 5'],
    [depositCorrect, 'acme sandbox dep_1 USD 5'],
  ] as const) {
    const told: string[] = []
    const tell = (line: string): void => void told.push(line)
    let toldBefore: string | undefined
    const call = ((_name: string, { idempotency_key: key }: { idempotency_key: string }) => {
      toldBefore = told.join()
      return Promise.reject(new Error(`no reply to ${key}`))
    }) as never
    const attempt = (flags: Flags): Promise<Report> => {
      const given = { reason: 'a test', evidence: 'line 1', ...flags }
      const own = { ...context, operator: { ...context.operator, call }, tell, flags: given }
      return command.run(own, words.split(' '))
    }
    const fault = await attempt({}).then(() => '', String)
    const key = /no reply to (\S+)/.exec(fault)?.[1] ?? 'none'
    t.match(fault, `Safe to repeat with --idempotency-key ${key}`)
    t.equal(toldBefore, `If this is interrupted, repeat it with --idempotency-key ${key}`)
    told.length = 0
    await attempt({ 'idempotency-key': 'k-1' }).catch(String)
    t.same(told, [], 'the operator knows it')
  }
})

t.test('sign signs the bytes of a body, or refuses them', async (t) => {
  const body = join(tempFolder(t), 'body.json')
  writeFileSync(body, Buffer.from([0x22, 0xe9, 0x22])) // Latin-1
  const attempt = async (): Promise<Report> => run(sign, 'POST /v1/payouts', { body })
  await t.rejects(attempt, { name: 'CommandFault', message: `${body} is not UTF-8` })
})

t.test('sign and verify work for a call', async (t) => {
  const body = join(tempFolder(t), 'payout.json')
  const canonicalFile = join(t.testdirName, 'canonical.txt')
  writeFileSync(body, '{"amount":"1"}')
  const path = '/v1/payouts'
  const { canonical, headers } = (await run(sign, `POST ${path}`, { body })).value as SignedRequest
  const header = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  /** @param theirs the text that the partner has signed */
  const checked = async (theirs: string): Promise<{ text: string; report: Report }> => {
    writeFileSync(canonicalFile, theirs)
    const report = await run(verify, `POST ${path}`, { header, body, canonical: canonicalFile })
    return { text: report.lines.join('\n'), report }
  }

  await t.test('a valid call', async (t) => {
    const { text, report } = await checked(canonical)
    t.match(report, { value: { valid: true, secret_matches: true }, exitCode: 0 })
    t.match(text, 'The signature is valid.')
    t.match(text, 'Both texts are equal.')
    t.match(text, `"${headers['X-Service-Nonce']}\\n"`)
    t.notMatch(text, stack.sandbox.signing_secret)
  })

  await t.test('the first difference is shown', async (t) => {
    const { text, report } = await checked(canonical.replace(path, `${path}?x=1`))
    t.equal(report.exitCode, 0, 'the signature is of the correct text')
    t.match(text, 'Their text does not produce their signature')
    t.match(text, 'The first difference is in line 2, column 12:')
    t.match(text, '  theirs  "/v1/payouts?x=1\\n"\n  ours    "/v1/payouts\\n"\n')
  })

  await t.test('one more byte in the body', async (t) => {
    writeFileSync(body, '{"amount":"1"}\n')
    const { text, report } = await checked(canonical)
    t.match(report, { value: { valid: false, secret_matches: true }, exitCode: 1 })
    t.match(text, /signature +failed/)
    t.match(text, 'Their text produces their signature: the secret is correct.')
    t.match(text, 'The first difference is in line 5, column ')
    t.match(text, 'The service would reject this call.')
  })

  await t.test('the secret of another key', async (t) => {
    const secret = join(tempFolder(t), 'secret')
    writeFileSync(secret, `${first.secret}\n`)
    const acme = partnerOf(stack.sandbox, { keyId: first.key_id, secret: first.secret })
    const given = Object.entries(acme.sign('GET', '/v1/balances', '').headers)
    const flags = {
      header: given.map(([name, value]) => `${name.toLowerCase()}:${value}`),
      'secret-file': secret,
    }
    const verified = async (over: Flags): Promise<string> =>
      linesOf(verify, 'GET /v1/balances', over)
    const missing = `This needs the secret of ${first.key_id}`
    await t.rejects(verified({ header: flags.header }), { message: new RegExp(missing) })
    const right = await verified(flags)
    t.match(right, 'The signature is valid.')
    t.notMatch(right, first.secret)
    const twice = await verified({ ...flags, header: [...flags.header, 'X-Service-Nonce: 1'] })
    t.match(twice, /nonce_format +failed +There must be one nonce/)
    t.match(twice, 'There is no canonical request')
  })

  await t.test('the printed curl command works unchanged', async (t) => {
    writeFileSync(body, JSON.stringify(anIntent()))
    const shown = await linesOf(sign, 'POST /v1/payment_intents?a=b', { body })
    const curl = shown.slice(shown.indexOf('curl '))
    const answer = await new Promise<string>((resolve) => {
      execFile('sh', ['-c', curl], (_error, output) => resolve(output))
    })
    t.match(answer, 'HTTP/1.1 201')
  })
})

t.test('a user is erased, and no list of operators names the user', async (t) => {
  const reason = 'ticket 9'
  const erased = await valueOf(partnerEraseUser, 'demo sandbox user-1', { reason })
  t.match(erased, { id: /^era_/, tenant: 'demo_sandbox', status: 'running' })
  await eventually('the payments are looked at', async () =>
    /^era_\S+ +demo_sandbox +waiting +0 +1 /m.test(await linesOf(partnerErasures)),
  )
  t.notMatch(await linesOf(actions), 'user-1')
  const again = run(partnerEraseUser, 'demo sandbox user-1', { reason })
  await t.rejects(again, /^payment_intent_not_found/)
  await t.rejects(run(partnerEraseUser, 'unknown sandbox user-1', { reason }))
  await t.rejects(run(partnerEraseUser, 'demo sandbox user-1'), /--reason/)
})

t.test('the CLI has all of these commands', async (t) => {
  const ops = operatorCli(stack.dataDir)
  for (const command of [
    ...[partnerList, partnerSuspend, partnerResume, partnerAllowIps, partnerPackages],
    ...[partnerCorridors, partnerRateLimit, keyList, keyRevoke, actions],
    ...[masterKeyList, masterKeyReencrypt, verify, partnerEraseUser, partnerErasures],
  ]) {
    t.ok(COMMANDS.includes(command), command.usage)
  }
  const refused = await ops('verify GET /', '--header', 'X-Service-Nonce: 1')
  t.equal(refused.exitCode, 1)
  t.match(refused.out, 'The service would reject this call.')
  const wrong = await ops('partner rate-limit acme fast')
  t.equal(wrong.exitCode, 2)
})

t.test('what a partner wrote is accepted, and shown with its characters escaped', async (t) => {
  const ops = operatorCli(stack.dataDir)
  const demo = stack.partner
  const reference = 'wire\u202e\u200b\u{e0041}7'
  const payment = { ...aPayout({ reference }), idempotency_key: undefined }
  const answer = await demo.request('POST', '/v1/payouts', payment, withKey('hostile'))
  t.equal(answer.status, 202)
  const { id = '' } = answer.body as { id?: string }
  const shown = await ops('payout show', id)
  t.match(shown.out, 'wire\\u202e\\u200b\\u{e0041}7')
  t.notMatch(shown.out, /[\u202e\u200b]/)
  const json = await ops('payout show', id, '--json')
  t.notMatch(json.out, /[\u202e\u200b]/)
  t.match(JSON.parse(json.out), { payout: { reference } }, 'the JSON has the text as it is')
})

t.test('operators write no control or format characters', async (t) => {
  const ops = operatorCli(stack.dataDir)
  for (const text of ['fine\u202e', 'fine\rUSD 100.00', 'two\nlines']) {
    t.match(
      await ops('partner suspend acme', '--reason', text),
      usageError('--reason must be text without control and format characters.'),
    )
    const actor = { name: '', reason: text }
    const call = context.partners.call('Suspend', { actor, partner_id: 'acme' })
    await t.rejects(call, { code: 'invalid_request' }, 'the processor refuses it as well')
  }
  const allowed = await ops('partner suspend acme', '--reason', 'ตามคำขอ của khách')
  t.equal(allowed.exitCode, 0, allowed.err)
})
