/**
 * Large changes need two operators, through the CLI on a real stack: from recovery mode, across the
 * restart that ends it, to a clean audit.
 */
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, type OperatorCli } from '../support/operator_cli.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const FIRST = userInfo().username
const BEN_TOKEN = 'token-of-ben'
const BECAUSE = ['--reason', 'ticket 9']
const RELEASE = ['recovery', 'release', '--no-statement', '--yes']
const REQUEST = /approvals approve (apr_\w+) --reason TEXT/

t.setTimeout(0)
const dataDir = tempFolder(t)
const stack = await startStack({
  dataDir,
  settings: {
    RECOVERY: 'yes',
    SECOND_OPERATOR_FROM: 'USD:100000',
    CALLERS: callerEntry('operator', 'ben', BEN_TOKEN),
  },
})
t.teardown(() => stack.stop())
const benFile = join(dataDir, 'ben.token')
writeFileSync(benFile, BEN_TOKEN, { mode: 0o600 })
const first = operatorCli(dataDir)
const ben = operatorCli(dataDir, benFile)

/** The request that a refused command names. */
async function requested(t: Test, ops: OperatorCli, ...words: string[]): Promise<string> {
  const { exitCode, out, err } = await ops(...words, ...BECAUSE)
  t.equal(exitCode, 1, `${words.join(' ')} ${out}`)
  t.match(err, /^second_operator_required: /)
  return REQUEST.exec(err)?.[1] ?? ''
}

const inRecovery = async (): Promise<unknown> => (await first.json('recovery', 'show'))['active']

void t.test(
  'a release needs two operators, and pending requests survive the restart',
  async (t) => {
    const dot = ['callers', 'create', 'operator', 'dot', '--roles', 'decide']
    const create = await requested(t, first, ...dot)
    const release = await requested(t, first, ...RELEASE)
    t.equal(await inRecovery(), true)
    const own = await first('approvals', 'approve', release, ...BECAUSE)
    t.match(own, { exitCode: 1, err: 'approver_is_requester' })
    const claimed = await first('approvals', 'approve', release, '--as', 'ben', ...BECAUSE)
    t.match(claimed, { exitCode: 1, err: 'operator_name_differs' })

    const { out } = await ben('approvals', 'approve', release, ...BECAUSE)
    t.match(out, `${release}: approved, release_recovery 1 without a statement\nRecovery 1 is`)
    await eventually('the processor is restarted', async () => {
      const shown = await first('recovery', 'show')
      return shown.exitCode === 0 && shown.out.startsWith('Not in recovery mode')
    })
    await stack.untilServing()

    const file = join(dataDir, 'dot.token')
    const approved = await ben('approvals', 'approve', create, '--token-file', file, ...BECAUSE)
    t.match(approved.out, `${create}: approved, create_caller operator dot decide`)
    t.match(approved.out, 'operator dot: decide\ntoken in')
    const asDot = operatorCli(dataDir, file)
    const rotated = ['callers', 'rotate', 'dot', '--token-file', file]
    t.match(
      await asDot(...rotated, ...BECAUSE),
      { exitCode: 0 },
      'an operator rotates only their own token without approval',
    )
    t.match(await asDot('approvals', 'list'), { exitCode: 0, out: 'There are no requests.' })
  },
)

void t.test('a deposit of the configured amount or more needs two operators', async (t) => {
  const deposit = ['deposit', 'demo', 'sandbox', 'USD']
  t.match(await first(...deposit, '999.99', ...BECAUSE), { exitCode: 0 })
  const key = ['--idempotency-key', 'wire-1']
  const request = await requested(t, first, ...deposit, '1000', ...key)
  t.equal(
    await requested(t, first, ...deposit, '1000', ...key),
    request,
    'a repeated command returns the same request',
  )
  const { out } = await ben('approvals', 'list')
  t.match(out, /^id +change +amount +requested by +until +status +reason\n/)
  t.match(out, new RegExp(`^${request} +deposit demo_sandbox wire-1 +USD 1,000.00 +${FIRST} `, 'm'))

  const before = await available()
  const done = await ben.json('approvals', 'approve', request, ...BECAUSE)
  t.match(done, {
    request: { status: 'approved', decided_by: 'ben' },
    deposit: { deposit_id: /dep_/ },
  })
  t.equal((await available()) - before, 100_000n)
  const again = await ben('approvals', 'approve', request, ...BECAUSE)
  t.match(again, { exitCode: 1, err: 'approval_request_decided' })

  const other = await requested(t, ben, ...deposit, '1000', '--idempotency-key', 'wire-2')
  const rejected = await ben('approvals', 'reject', other, ...BECAUSE)
  t.equal(
    rejected.out,
    `${other}: rejected, deposit demo_sandbox wire-2, USD 1,000.00\n`,
    'withdrawn',
  )
  const resolved = await first('approvals', 'list', '--resolved')
  t.match(resolved.out, /approved by ben/)
  t.match(resolved.out, /rejected by ben/)
})

async function available(): Promise<bigint> {
  const { lines } = (await first.json('trial-balance', 'demo_sandbox')) as {
    lines: { account: string; currency: string; balance: string }[]
  }
  const prefund = lines.find((line) => line.currency === 'USD' && line.account === 'prefund')
  return BigInt(prefund!.balance)
}

void t.test('the log names both operators', async (t) => {
  const { data } = (await first.json('actions')) as { data: { actor: string; action: string }[] }
  const steps = data.map(({ actor, action }) => `${actor} ${action}`)
  for (const step of [`${FIRST} request_approval`, 'ben approve_request', 'ben release_recovery']) {
    t.ok(steps.includes(step), step)
  }
  t.ok(steps.includes('ben reject_request'))
  await stack.stop()
  await assertCleanAudit(t, dataDir)
})
