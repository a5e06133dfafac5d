/** Commands for partners, keys and signatures against a running stack. */
import { userInfo } from 'node:os'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { SignedRequest } from '../../src/client/index.js'
import { connectPartnerAdmin } from '../../src/operations/calls/operator_client.js'
import type { Context } from '../../src/operations/cli/command.js'
import type { Flags } from '../../src/operations/cli/options.js'
import { deposit, depositCorrect, withdraw } from '../../src/operations/money/funds.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { printed, refused, usageError } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf } from '../support/partner.js'
import { idIn, requestPayout } from '../support/payments.js'
import { anIntent } from '../support/requests.js'
import { startStack } from '../support/stack.js'

const DAY_MS = 86_400_000

const stack = await startStack({ t, dataDir: tempFolder(t) })
const { ops } = stack
const partners = connectPartnerAdmin(operatorAccessOf(stack), systemClock)
t.teardown(() => partners.close())
const created = await ops.json('partner create acme --corridors th_promptpay,vn_vietqr')
const first = created['sandbox_key'] as { key_id: string; secret: string }

interface Key {
  readonly key_id: string
  readonly status: string
  readonly created_at: string
  readonly revoked_at?: string
}

t.test('the rules of a partner are changed and listed', async (t) => {
  for (const [change, changed] of [
    ['suspend acme', { suspended: true }],
    ['resume acme', { suspended: false }],
    [
      'allow-ips acme 203.0.113.0/24,2001:db8::/32,203.0.113.0/24',
      { allowed_ips: ['203.0.113.0/24', '2001:db8::/32'] },
    ],
    ['packages acme com.acme.pay', { packages: ['com.acme.pay'] }],
    ['corridors acme vn_vietqr', { corridors: ['vn_vietqr'] }],
    ['corridors acme none', { corridors: [] }],
    ['rate-limit acme 50', { rate_limit_per_second: 50 }],
  ] as const) {
    t.match(await ops.json(`partner ${change}`), { partner_id: 'acme', ...changed }, change)
  }
  const listed = await ops.out('partner list')
  t.match(listed, /^acme +active +none +203\.0\.113\.0\/24 2001:db8::\/32 +com\.acme\.pay +50 /m)
  t.match(listed, /^demo +active +th_promptpay vn_vietqr +any +any +default /m)
  t.match(await ops.json('partner allow-ips acme none'), { allowed_ips: [] })
  t.match(await ops.json('partner packages acme none'), { packages: [] })
  t.match(await ops('partner suspend nobody'), refused(/^partner_not_found/))
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
  await ops.out('partner corridors acme vn_vietqr')
  await ops.out('partner suspend acme')
  await answered(403, 'partner_suspended')
  await ops.out('partner resume acme')
  await answered(201)
  t.pass()
})

t.test(
  'a partner has three keys at most, older ones end in 14 days, and a revocation is final',
  async (t) => {
    const issued = await ops.json('key issue acme sandbox')
    const [older, newer] = (await ops.json('key list acme sandbox'))['data'] as Key[]
    t.match([older, newer], [{ status: 'retiring' }, { status: 'active' }])
    const overlap = Date.parse(older?.revoked_at ?? '') - Date.parse(newer?.created_at ?? '')
    t.equal(overlap, 14 * DAY_MS)
    await ops.out('key issue acme sandbox')
    const fourth = await ops('key issue acme sandbox')
    t.match(fourth, refused(/^signing_key_limit: Three signing keys are active\./))

    const keyId = String(issued['key_id'])
    const holder = partnerOf(stack.sandbox, { keyId, secret: String(issued['secret']) })
    const status = async (): Promise<number> => (await holder.request('GET', '/v1/balances')).status
    await eventually('the key is accepted', async () => (await status()) === 200)
    t.match(await ops.json('key revoke', keyId), { key_id: keyId, status: 'revoked' })
    await eventually('the key is refused', async () => (await status()) === 401)
    t.match(await ops('key revoke', keyId), refused(/^signing_key_revoked/))
    const listed = await ops.out('key list acme sandbox')
    t.match(listed, new RegExp(`^${keyId} +revoked +issued \\S+ +at `, 'm'))
    t.notMatch(listed, 'sk_')
    const fifth = await ops.json('key issue acme sandbox')
    t.not(fifth['key_id'], keyId, 'a revoked key frees a slot, its id is not reused')
    t.match(await ops.out('key list acme production'), 'acme has no key for production.')
  },
)

t.test('the action log has the authenticated operator and the reason', async (t) => {
  const { username } = userInfo()
  await ops.out('partner rate-limit acme 60', '--as', username, '--reason', 'ticket 7')
  const another = await ops('partner rate-limit acme 70 --as ada', '--reason', 'ticket 8')
  t.match(another, refused(/^operator_name_differs: .+ another operator/))
  const listed = await ops.out('actions')
  const line = new RegExp(`^\\S+Z +${username} +partner_rate_limit +acme 60 +ticket 7$`)
  t.match(listed.split('\n')[0], line)
  const { data } = await ops.json('actions')
  t.match(data, [{ actor: username, reason: 'ticket 7', action: 'partner_rate_limit' }])
  const countOf = async (...filters: readonly string[]): Promise<number> =>
    ((await ops.json('actions', ...filters))['data'] as unknown[]).length
  const by = ['--by', username]
  const limited = ['--action', 'partner_rate_limit']
  const all = await countOf()
  t.equal(await countOf(...by), all)
  t.equal(await countOf('--subject', 'acme 60', ...limited, ...by), 1)
  t.ok((await countOf(...limited)) < all)
  t.equal(await ops.out('actions --by nobody'), 'No such actions.\n')
})

t.test('usage errors are reported', async (t) => {
  for (const [command, fault] of [
    ['partner allow-ips acme 203.0.113.7', 'write 203.0.113.7/32 for this address alone'],
    ['partner allow-ips acme 2001:db8::1', 'write 2001:db8::1/128 for this address alone'],
    ['partner allow-ips acme 203.0.113.0/33', '203.0.113.0/33 is not a CIDR block'],
    ['partner packages acme com/acme', 'com/acme is not an app id'],
    ['partner corridors acme th_promptpay,xx', 'xx is not a corridor: use th_promptpay'],
    ['partner rate-limit acme 1000001', '1000001 is not a rate: a whole number from 0 to 1000000'],
    ['partner rate-limit acme 1.5', '1.5 is not a rate'],
    ['partner create acme', 'acme exists already'],
    ['partner create Acme_2', 'Acme_2 is not a name'],
    ['partner create new --corridors vn_vietqr,xx', 'xx is not a corridor'],
    ['key issue unknown sandbox', 'There is no partner unknown'],
    ['key list acme live', 'live is not an environment: sandbox or production'],
    ['sign GET v1/balances', 'v1/balances is not a path'],
    ['key revoke acme', 'acme is not a key id'],
    ['key revoke acme_production_2026q4', 'A change of production needs --reason TEXT'],
    ['verify GET /v1/balances --header X', 'X is not a header'],
    ['verify GET /v1/balances --body nowhere.json', 'nowhere.json'],
  ] as const) {
    t.match(await ops(command), usageError(fault), command)
  }
})

t.test('every secret is encrypted with the only master key', async (t) => {
  const { data } = await ops.json('master-key list')
  // One signing key of the demo, four of acme.
  t.match(data, [{ kid: /^k[0-9a-f]{8}$/, in_file: true, values: 5 }])
  t.equal((data as unknown[]).length, 1)
  t.match(await ops.out('master-key reencrypt'), /^k\w+ +5 values +encrypts since /)
})

t.test('a deposit and its like show their key before the call', async (t) => {
  for (const [command, words] of [
    [deposit, 'acme sandbox USD 5'],
    [withdraw, 'acme sandbox USD 5'],
    [depositCorrect, 'acme sandbox dep_1 USD 5'],
  ] as const) {
    const told: string[] = []
    let toldBefore: string | undefined
    const call = (_name: string, { idempotency_key: key }: { idempotency_key: string }) => {
      toldBefore = told.join()
      return Promise.reject(new Error(`no reply to ${key}`))
    }
    const attempt = (flags: Flags): Promise<unknown> => {
      const context = {
        ...{ partners, operator: { call } },
        tell: (line: string) => void told.push(line),
        flags: { reason: 'a test', evidence: 'line 1', ...flags },
      }
      return command.run(context as unknown as Context, words.split(' '))
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
  t.match(await ops('sign POST /v1/payouts --body', body), usageError(`${body} is not UTF-8`))
})

t.test('sign and verify work for a call', async (t) => {
  const body = join(tempFolder(t), 'payout.json')
  const canonicalFile = join(t.testdirName, 'canonical.txt')
  writeFileSync(body, '{"amount":"1"}')
  const path = '/v1/payouts'
  const signed = await ops.json(`sign POST ${path} --body`, body)
  const { canonical, headers } = signed as unknown as SignedRequest
  const headersOf = (given: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(given).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  /** @param theirs the text that the partner has signed */
  const checked = async (theirs: string) => {
    writeFileSync(canonicalFile, theirs)
    const files = ['--body', body, '--canonical', canonicalFile]
    const words = [`verify POST ${path}`, ...headersOf(headers), ...files]
    const { out: text, exitCode } = await ops(...words)
    return { text, exitCode, value: JSON.parse((await ops(...words, '--json')).out) as object }
  }

  await t.test('a valid call', async (t) => {
    const { text, ...report } = await checked(canonical)
    t.match(report, { value: { valid: true, secret_matches: true }, exitCode: 0 })
    t.match(text, 'The signature is valid.')
    t.match(text, 'Both texts are equal.')
    t.match(text, `"${headers['X-Service-Nonce']}\\n"`)
    t.notMatch(text, stack.sandbox.signing_secret)
  })

  await t.test('the first difference is shown', async (t) => {
    const { text, exitCode } = await checked(canonical.replace(path, `${path}?x=1`))
    t.equal(exitCode, 0, 'the signature is of the correct text')
    t.match(text, 'Their text does not produce their signature')
    t.match(text, 'The first difference is in line 2, column 12:')
    t.match(text, '  theirs  "/v1/payouts?x=1\\n"\n  ours    "/v1/payouts\\n"\n')
  })

  await t.test('one more byte in the body', async (t) => {
    writeFileSync(body, '{"amount":"1"}\n')
    const { text, ...report } = await checked(canonical)
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
    const verify = [
      'verify GET /v1/balances',
      ...given.flatMap(([name, value]) => ['--header', `${name.toLowerCase()}:${value}`]),
    ]
    const known = ['--secret-file', secret]
    t.match(await ops(...verify), usageError(`This needs the secret of ${first.key_id}`))
    const right = await ops.out(...verify, ...known)
    t.match(right, 'The signature is valid.')
    t.notMatch(right, first.secret)
    const { out: twice } = await ops(...verify, '--header', 'X-Service-Nonce: 1', ...known)
    t.match(twice, /nonce_format +failed +There must be one nonce/)
    t.match(twice, 'There is no canonical request')
  })

  await t.test('the printed curl command works unchanged', async (t) => {
    writeFileSync(body, JSON.stringify(anIntent()))
    const shown = await ops.out('sign POST /v1/payment_intents?a=b --body', body)
    const curl = shown.slice(shown.indexOf('curl '))
    const answer = await new Promise<string>((resolve) => {
      execFile('sh', ['-c', curl], (_error, output) => resolve(output))
    })
    t.match(answer, 'HTTP/1.1 201')
  })
})

t.test('a user is erased, and no list of operators names the user', async (t) => {
  const reason = ['--reason', 'ticket 9']
  const erased = await ops.json('partner erase-user demo sandbox user-1', ...reason)
  t.match(erased, { id: /^era_/, tenant: 'demo_sandbox', status: 'running' })
  await eventually('the payments are looked at', async () =>
    /^era_\S+ +demo_sandbox +waiting +0 +1 /m.test(await ops.out('partner erasures')),
  )
  t.notMatch(await ops.out('actions'), 'user-1')
  const again = await ops('partner erase-user demo sandbox user-1', ...reason)
  t.match(again, refused(/^payment_intent_not_found/))
  t.match(await ops('partner erase-user unknown sandbox user-1', ...reason), { exitCode: 2 })
  t.match(await ops('partner erase-user demo sandbox user-1'), usageError(/--reason/))
})

t.test('a wrong signature is an exit code of 1', async (t) => {
  const wrong = await ops('verify GET / --header', 'X-Service-Nonce: 1')
  t.match(wrong, { exitCode: 1, out: 'The service would reject this call.' })
  t.match(await ops('partner rate-limit acme fast'), { exitCode: 2 })
})

t.test('what a partner wrote is accepted, and shown with its characters escaped', async (t) => {
  const reference = 'wire\u202e\u200b\u{e0041}7'
  const answer = await requestPayout(stack.partner, 'hostile', { reference })
  t.equal(answer.status, 202)
  const shown = await ops.out('payout show', idIn(answer))
  t.match(shown, 'wire\\u202e\\u200b\\u{e0041}7')
  t.notMatch(shown, /[\u202e\u200b]/)
  const json = await ops.out('payout show', idIn(answer), '--json')
  t.notMatch(json, /[\u202e\u200b]/)
  t.match(JSON.parse(json), { payout: { reference } }, 'the JSON has the text as it is')
})

t.test('operators write no control or format characters', async (t) => {
  for (const text of ['fine\u202e', 'fine\rUSD 100.00', 'two\nlines']) {
    t.match(
      await ops('partner suspend acme', '--reason', text),
      usageError('--reason must be text without control and format characters.'),
    )
    const actor = { name: '', reason: text }
    const call = partners.call('Suspend', { actor, partner_id: 'acme' })
    await t.rejects(call, { code: 'invalid_request' }, 'the processor refuses it as well')
  }
  t.match(await ops('partner suspend acme', '--reason', ' '), usageError('--reason is empty.'))
  const allowed = await ops('partner suspend acme', '--reason', 'ตามคำขอ của khách')
  t.match(allowed, printed('acme'), allowed.err)
})

t.test('a partner without named corridors has none, and the operator is told', async (t) => {
  const said = await ops.out('partner create umbrella')
  t.match(
    said,
    /\nno corridors yet: make ops ARGS="partner corridors umbrella th_promptpay,vn_vietqr"\n$/,
  )
  const { data } = await ops.json('partner list')
  t.match((data as object[]).at(-1), { partner_id: 'umbrella', corridors: [] })
})
