/**
 * The rotation of a master key: secrets are re-encrypted, the old key is removed, and answers to
 * partners do not change.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { untilClean } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { anIntent, aPayout } from '../support/requests.js'
import { runProcess } from '../support/single_process.js'
import { runUntilExit, startStack, type RunningStack } from '../support/stack.js'

t.setTimeout(0)
const folder = tempFolder(t)
const dataDir = join(folder, 'data')
const keyFile = join(folder, 'master.key')
const settings = { MASTER_KEY_FILE: keyFile, RAIL_DELAY_MS: '20' }
const OLD = `old:${'07'.repeat(32)}\n`
const NEW = `new:${'09'.repeat(32)}\n`
const ops = operatorCli(dataDir)

async function startWith(keys: string): Promise<RunningStack> {
  writeFileSync(keyFile, keys, { mode: 0o600 })
  return startStack({ dataDir, settings })
}

const { beneficiary, amount, currency, reference } = aPayout({ amount: '125000' })
const INTENT = anIntent()

interface Paid {
  readonly intent: HttpAnswer
  readonly payout: HttpAnswer
}
/** The same requests with the same keys each time. */
async function pay(partner: Partner, beneficiaryId: string): Promise<Paid> {
  const payout = { amount, currency, reference, beneficiary_id: beneficiaryId }
  return {
    intent: await partner.request('POST', '/v1/payment_intents', INTENT, withKey('intent')),
    payout: await partner.request('POST', '/v1/payouts', payout, withKey('payout')),
  }
}

t.test('a master key is rotated without a change for partners', async (t) => {
  let stack = await startWith(OLD)
  t.teardown(() => stack.stop())
  const { key_id: keyId, signing_secret: secret } = stack.sandbox
  const first = partnerOf(stack.sandbox)
  const receiver = await receiverOf(first)
  t.teardown(() => receiver.close())
  const created = await first.request('POST', '/v1/beneficiaries', beneficiary)
  const beneficiaryId = (created.body as { id: string }).id
  const before = await pay(first, beneficiaryId)
  t.match(before, { intent: { status: 201 }, payout: { status: 202 } })
  const payoutId = (before.payout.body as { id: string }).id
  await stack.stop()
  writeFileSync(keyFile, NEW)
  const missing = await runUntilExit(dataDir, settings)
  t.match(missing.output, 'processor does not start: the master key file lacks old')

  stack = await startWith(NEW + OLD)
  // A signing key, a webhook secret, a beneficiary and its payout.
  t.match(await ops.json('master-key list'), {
    data: [
      { kid: 'new', values: 0 },
      { kid: 'old', values: 4 },
    ],
  })
  const { out } = await ops('master-key reencrypt', '--reason', 'yearly rotation')
  t.match(out, /^new +4 values +encrypts since /m)
  t.match(out, /^old +0 values +unused: can be removed from the file from /m)
  t.match(await ops.out('actions'), /reencrypt_done +new +yearly rotation/)
  await stack.stop()

  stack = await startWith(NEW)
  await eventually('it is logged', () => {
    return stack.logOf('processor').includes('session tokens signed with them are rejected now')
  })
  t.match(await ops.out('master-key list'), /^old +0 values +removed$/m)
  const partner = partnerOf(stack.sandbox, { keyId, secret })
  const after = await pay(partner, beneficiaryId)
  t.equal(after.intent.status, 201, 'the old signing secret signs')
  t.equal(after.intent.text, before.intent.text, 'the replayed intent has its token')
  t.equal(after.payout.status, 200)
  t.equal(after.payout.text, before.payout.text, 'the payout is replayed')
  const changed = { amount: '1', currency, reference, beneficiary_id: beneficiaryId }
  const conflict = await partner.request('POST', '/v1/payouts', changed, withKey('payout'))
  t.match(conflict, { status: 409, body: { error: { code: 'duplicate_payout' } } })

  const more = { amount, currency, reference: 'later', beneficiary_id: beneficiaryId }
  const later = await partner.request('POST', '/v1/payouts', more, withKey('later'))
  t.equal(later.status, 202)
  const laterId = (later.body as { id: string }).id
  for (const id of [payoutId, laterId]) {
    const completed = await receiver.until(
      `the webhook of ${id}`,
      ({ eventType, body }) => eventType === 'payout.completed' && body.includes(id),
      30_000,
    )
    t.equal(completed.verdict, 'valid', 'signed with the first webhook secret')
  }

  await untilClean(dataDir)
})

t.test('production requires a key file that only its owner can read', async (t) => {
  const file = join(tempFolder(t), 'own.key')
  const production = {
    ...{ DATA_DIR: t.testdirName, MASTER_KEY_FILE: file, NATS_URL: 'nats://127.0.0.1:1' },
    ...{ PRODUCTION_HOSTS: 'api.production.localhost', ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes' },
  }
  const ended = () => runProcess('src/processor/main.js', production)
  const missing = `master key file ${file} is missing`
  t.match(await ended(), { exitCode: 1, err: missing })
  writeFileSync(file, OLD, { mode: 0o644 })
  const readable = `${file} is accessible to others (mode 644): chmod 600`
  t.match(await ended(), { exitCode: 1, err: readable })
})
