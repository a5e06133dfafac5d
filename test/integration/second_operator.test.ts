/**
 * Large changes need two operators, through the CLI on a real stack: from recovery mode, across the
 * restart that ends it, to a clean audit.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, type OperatorCli, printed, refused } from '../support/operator_cli.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const FIRST = userInfo().username
const BEN_TOKEN = 'token-of-ben-of-these-tests-only-1'
const BECAUSE = ['--reason', 'ticket 9']
const RELEASE = ['recovery', 'release', '--no-statement', '--yes']
const REQUEST = /approvals approve (apr_\w+) --reason TEXT/

const SECOND_OPERATOR_FROM = 'USD:100000'

const dataDir = tempFolder(t)
const stack = await startStack({
  t,
  dataDir,
  settings: {
    RECOVERY: 'yes',
    SECOND_OPERATOR_FROM,
    CALLERS: callerEntry('operator', 'ben', BEN_TOKEN),
  },
})
const benFile = join(dataDir, 'ben.token')
writeFileSync(benFile, BEN_TOKEN, { mode: 0o600 })
const first = operatorCli(dataDir, '', { SECOND_OPERATOR_FROM })
const ben = operatorCli(dataDir, benFile)

/** The request that a refused command names. */
async function requested(t: Test, ops: OperatorCli, ...words: string[]): Promise<string> {
  const { exitCode, out, err } = await ops(...words, ...BECAUSE)
  t.equal(exitCode, 1, `${words.join(' ')} ${out}`)
  t.match(err, /^second_operator_required: /)
  return REQUEST.exec(err)?.[1] ?? ''
}

const inRecovery = async (): Promise<unknown> => (await first.json('recovery show'))['active']

t.test('a release needs two operators, and pending requests survive the restart', async (t) => {
  const file = join(dataDir, 'dot.token')
  const own = await first.json('callers token operator', '--token-file', file)
  const digest = String(own['token_sha256'])
  const dot = ['callers', 'create', 'operator', 'dot', '--roles', 'decide']
  const shown = await first(...dot, ...BECAUSE)
  t.match(shown, refused(/^owner_credential_required: /))
  const create = await requested(t, first, ...dot, '--token-sha256', digest)
  const release = await requested(t, first, ...RELEASE)
  t.equal(await inRecovery(), true)
  t.match(await first('approvals approve', release, ...BECAUSE), refused('approver_is_requester'))
  const claimed = await first('approvals approve', release, '--as', 'ben', ...BECAUSE)
  t.match(claimed, refused('operator_name_differs'))

  const { out } = await ben('approvals approve', release, ...BECAUSE)
  t.match(out, `${release}: approved, release_recovery 1 without a statement\nRecovery 1 is`)
  await eventually('the processor is restarted', async () => {
    const shown = await first('recovery show')
    return shown.exitCode === 0 && shown.out.startsWith('Not in recovery mode')
  })
  await stack.untilServing()

  const unused = join(dataDir, 'unused.token')
  const approved = await ben('approvals approve', create, '--token-file', unused, ...BECAUSE)
  t.notOk(existsSync(unused), 'the owner has the token')
  t.match(approved.out, `${create}: approved, create_caller operator dot decide sha256:${digest}`)
  t.match(approved.out, "operator dot: decide\ncredential: its owner's token")
  const next = join(dataDir, 'dot.next')
  const rotated = ['callers', 'rotate', 'dot', '--token-file', next]
  t.match(
    await operatorCli(dataDir, file)(...rotated, ...BECAUSE),
    { exitCode: 0 },
    'an operator rotates only their own token without approval',
  )
  const asDot = operatorCli(dataDir, next)
  t.match(await asDot('approvals list'), printed('There are no requests.'))
  const former = operatorCli(dataDir, file)
  t.match(await former('approvals list'), { exitCode: 0 }, 'the former token reads')
  const revoke = await former('callers revoke ben', ...BECAUSE)
  t.match(revoke, refused(/^permission_denied/), 'and changes nothing')
})

t.test('a deposit of the configured amount or more needs two operators', async (t) => {
  const deposit = ['deposit', 'demo', 'sandbox', 'USD']
  t.match(await first(...deposit, '999.99', ...BECAUSE), { exitCode: 0 })
  const key = ['--idempotency-key', 'wire-1']
  const request = await requested(t, first, ...deposit, '1000', ...key)
  t.equal(
    await requested(t, first, ...deposit, '1000', ...key),
    request,
    'a repeated command returns the same request',
  )
  const { out } = await ben('approvals list')
  t.match(out, /^id +change +amount +requested by +until +status +reason\n/)
  t.match(out, new RegExp(`^${request} +deposit demo_sandbox wire-1 +USD 1,000.00 +${FIRST} `, 'm'))

  const before = await available()
  const done = await ben.json('approvals approve', request, ...BECAUSE)
  t.match(done, {
    request: { status: 'approved', decided_by: 'ben' },
    deposit: { deposit_id: /dep_/ },
  })
  t.equal((await available()) - before, 100_000n)
  t.match(await ben('approvals approve', request, ...BECAUSE), refused('approval_request_decided'))

  const other = await requested(t, ben, ...deposit, '1000', '--idempotency-key', 'wire-2')
  const rejected = await ben('approvals reject', other, ...BECAUSE)
  t.equal(
    rejected.out,
    `${other}: rejected, deposit demo_sandbox wire-2, USD 1,000.00\n`,
    'withdrawn',
  )
  const resolved = await first('approvals list --resolved')
  t.match(resolved.out, /approved by ben/)
  t.match(resolved.out, /rejected by ben/)
})

async function available(): Promise<bigint> {
  const { lines } = (await first.json('trial-balance demo_sandbox')) as {
    lines: { account: string; currency: string; balance: string }[]
  }
  const prefund = lines.find((line) => line.currency === 'USD' && line.account === 'prefund')
  return BigInt(prefund!.balance)
}

t.test('the smaller doors are guarded too', async (t) => {
  const deposit = ['deposit', 'demo', 'sandbox', 'USD']
  const parts = ['first', 'second'].map((part) => ['400', '--idempotency-key', part])
  t.match(await ben(...deposit, ...parts[0]!, ...BECAUSE), { exitCode: 0 })
  await requested(t, ben, ...deposit, '600', '--idempotency-key', 'split')
  t.match(await ben(...deposit, ...parts[1]!, ...BECAUSE), { exitCode: 0 }, 'below the limit')

  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const keyFile = join(dataDir, 'partner.pem')
  writeFileSync(keyFile, publicKey)
  const issue = ['key', 'issue', 'demo', 'production', '--public-key', keyFile]
  const key = await requested(t, first, ...issue)
  const issued = await ben.json('approvals approve', key, ...BECAUSE)
  const { sealed_secret: sealed } = issued['key'] as { sealed_secret: string }
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const opened = privateDecrypt(
    { key: privateKey, padding, oaepHash: 'sha256' },
    Buffer.from(sealed, 'base64'),
  )
  t.match(opened.toString(), /^sk_.{43}$/)

  const routeFile = join(dataDir, 'route.json')
  const { data } = (await first.json('routes list')) as { data: Record<string, unknown>[] }
  const vietnam = data.find(({ country }) => country === 'VN')
  writeFileSync(routeFile, JSON.stringify({ ...vietnam, review_from: '200000000' }))
  const route = await requested(t, first, 'routes', 'set', routeFile)
  t.match(await ben.json('approvals approve', route, ...BECAUSE), {
    route: { country: 'VN', review_from: '200000000' },
  })

  const rate = await requested(t, first, 'rates', 'set', 'THB', '40.00', '--force')
  t.match(await ben('approvals approve', rate, ...BECAUSE), { exitCode: 0 })
  t.match(await first.out('rates list'), /^THB +sandbox +40\.00 /m)

  for (const kind of ['service', 'gateway', 'webhooks']) {
    const create = ['callers', 'create', kind, `${kind}-2`, '--certificate', `${kind}-2.internal`]
    await requested(t, first, ...create)
  }

  const late = await requested(t, ben, ...deposit, '1000', '--idempotency-key', 'late')
  t.match(await first('callers revoke ben', ...BECAUSE), { exitCode: 0 })
  t.match(await first('approvals approve', late, ...BECAUSE), refused(/^approval_request_ended: /))
  t.match(await first.out('approvals list --resolved'), /ended/)
})

t.test('the production check names what the processor shows', async (t) => {
  const { exitCode, out } = await first('production check')
  t.equal(exitCode, 1)
  t.match(out, /^one person with every role: \S+ /m)
  t.match(out, /^internal services for all partners: internal /m)
  t.match(out, /^routes without amount_max: all partners VN VND /m)
  t.match(out, /^partners that may call production from any address: 1 of 1 /m)
  t.notMatch(out, 'routes without review_from', 'the included routes are of the sandbox only')
  t.notMatch(out, 'SECOND_OPERATOR_FROM is empty')
})

t.test('the log names both operators', async (t) => {
  const { data } = (await first.json('actions')) as { data: { actor: string; action: string }[] }
  const steps = data.map(({ actor, action }) => `${actor} ${action}`)
  for (const step of [`${FIRST} request_approval`, 'ben approve_request', 'ben release_recovery']) {
    t.ok(steps.includes(step), step)
  }
  t.ok(steps.includes('ben reject_request'))
  await stack.stop()
  await assertCleanAudit(t, dataDir)
})
