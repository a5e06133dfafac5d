/**
 * A stack with a rail for each environment: no instruction of one ever reaches the other, while the
 * processor and both rails are killed. Proven by the journals of the rails.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newCallerToken } from '../../src/auth/caller_token.js'
import { callerEntry } from '../../src/auth/callers.js'
import type { Environment } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { assertCleanAudit, auditOf, type AuditResult } from '../support/audit.js'
import { storeSettings } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { refused } from '../support/operator_cli.js'
import { partnerOf, type Partner } from '../support/partner.js'
import { idIn, payByQr, payOut, requestPayout, untilStatus } from '../support/payments.js'
import { fetchOps } from '../support/raw_requests.js'
import type { CliResult } from '../support/program.js'
import { changeJournal, instructionsAt, writeStatement } from '../support/rail_journal.js'
import { startProcess, type SingleProcess } from '../support/single_process.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { tempFolder } from '../support/temp_folder.js'

const top = t
const PRODUCTION = 'api.production.localhost'
const BECAUSE = ['--reason', 'a test of two rails']
const ROUNDS = 6

const folder = tempFolder(t)
const bankDir = join(folder, 'bank')
const bankAddress = `unix:${join(folder, 'bank.sock')}`
const token = newCallerToken('processor', systemRandom())
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text, { mode: 0o600 })
  return join(folder, name)
}
mkdirSync(bankDir, { mode: 0o700 })
file('bank.token', token)
const carried = { payouts: ['VN/VND'], corridors: ['th_promptpay'], sandbox: true }
const rails = [
  { ...carried, name: 'play', environments: ['sandbox'] },
  {
    ...{ ...carried, name: 'bank', environments: ['production'] },
    ...{ address: bankAddress, token_file: 'bank.token' },
  },
]

const startBank = (): Promise<SingleProcess> =>
  startProcess(top, 'src/rails/sandbox/main.js', {
    DATA_DIR: bankDir,
    RAIL_LISTEN: bankAddress,
    RAIL_DELAY_MS: '100',
    CALLERS: callerEntry('processor', 'processor', token),
  })

let bank = await startBank()
const settings = {
  RAILS_FILE: file('rails.json', JSON.stringify({ rails })),
  RAIL_DELAY_MS: '100',
  PRODUCTION_HOSTS: PRODUCTION,
  ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes',
  MASTER_KEY_FILE: file('master.key', `k1:${'07'.repeat(32)}\n`),
  WEBHOOK_ALLOW_PRIVATE: 'false',
  RATE_LIMIT: 'off',
}
const stack = await startSupervisedStack(settings, t)
const { ops } = stack

async function openProduction(): Promise<Partner> {
  const { partner_id: partner } = stack.sandbox
  const route = {
    ...{ country: 'VN', currency: 'VND', enabled: true, handling: 'on_top' },
    ...{ platform_fixed: '0', platform_bps: 0, rail_fixed: '0', refund_fees_on_reversal: true },
    tenant: { partner_id: partner, environment: 'production' },
  }
  await ops.json('routes set', file('route.json', JSON.stringify(route)), ...BECAUSE)
  await ops.json('rates set THB 36.00', ...BECAUSE)
  for (const currency of ['VND', 'USD']) {
    await ops.json('deposit', partner, 'production', currency, '100000000', ...BECAUSE)
  }
  const { key_id: keyId, secret } = await ops.json('key issue', partner, 'production', ...BECAUSE)
  return partnerOf(stack.sandbox, {
    ...{ keyId: String(keyId), secret: String(secret), host: PRODUCTION },
  })
}

interface Journaled {
  readonly id: string
  readonly environment: Environment
  readonly executions: number
}

/** Every instruction in a rail's journal. */
const journalOf = (dataDir: string): Promise<readonly Journaled[]> =>
  instructionsAt(dataDir, 'SELECT id, environment, executions FROM instructions ORDER BY id')

const partners: Readonly<Record<Environment, Partner>> = {
  sandbox: stack.partner,
  production: await openProduction(),
}

/** What was paid, by environment. */
const paid: Readonly<Record<Environment, string[]>> = { sandbox: [], production: [] }

async function pay(environment: Environment, round: number): Promise<void> {
  const partner = partners[environment]
  const key = `${environment} ${round}`
  const [payout, { id }] = await Promise.all([
    payOut(partner, key, { reference: key }),
    payByQr(partner, key),
  ])
  paid[environment].push(payout, id)
}

async function untilPaid(environment: Environment): Promise<void> {
  for (const id of paid[environment]) {
    const [path, status] = id.startsWith('pout_')
      ? [`/v1/payouts/${id}`, 'completed']
      : [`/v1/payment_intents/${id}`, 'captured']
    await untilStatus(partners[environment], path, status)
  }
}

async function killBank(): Promise<void> {
  await bank.end('SIGKILL')
  bank = await startBank()
  await bank.untilReady()
}

t.test('no instruction reaches the rail of the other environment', async (t) => {
  const kills = [() => stack.kill('processor'), () => stack.kill('rail'), killBank]
  for (let round = 0; round < ROUNDS; round++) {
    const paying = Promise.all([pay('sandbox', round), pay('production', round)])
    await Promise.all([paying, kills[round % kills.length]!()])
  }
  await Promise.all([untilPaid('sandbox'), untilPaid('production')])
  for (const [dataDir, environment] of [
    [stack.dataDir, 'sandbox'],
    [bankDir, 'production'],
  ] as const) {
    const found = await journalOf(dataDir)
    t.same(
      found,
      [...paid[environment]].sort().map((id) => ({ id, environment, executions: 1 })),
      `the rail of ${environment} has its own instructions, each once`,
    )
  }
})

t.test('each rail is named where an operator looks', async (t) => {
  const { ops_url } = stack.sandbox
  const lines = await (await fetchOps(ops_url, '/metrics')).text()
  for (const { name } of rails) {
    t.match(lines, new RegExp(`causeway_rail_down_seconds\\{.*rail="${name}".*\\} 0\\n`))
  }
})

t.test('a rail that is down stops its own environment only', async (t) => {
  await bank.end('SIGKILL')
  let attempts = 0
  const answer = await eventually('production is refused', async () => {
    const answer = await requestPayout(partners.production, `down ${(attempts += 1)}`)
    if (answer.status !== 202) return answer
    paid.production.push(idIn(answer)) // it waits for its rail
    return false
  })
  t.match(answer, { body: { error: { code: 'rail_unavailable' } } })
  await pay('sandbox', ROUNDS)
  await untilPaid('sandbox')
  bank = await startBank()
  await bank.untilReady()
  await untilPaid('production')
  await pay('production', ROUNDS)
  await untilPaid('production')
})

t.test('the statement of each rail matches its own part of the ledger', async (t) => {
  const period = ['--from', '2020-01-01', '--until', '2100-01-01']
  const reconciled = (statement: string, ...more: string[]): Promise<CliResult> =>
    ops('reconcile', statement, ...period, ...BECAUSE, ...more)
  const play = await writeStatement(stack.dataDir, join(folder, 'play.csv'))
  const bank = await writeStatement(bankDir, join(folder, 'bank.csv'))
  const matches = { exitCode: 0, err: /Everything matches/ }
  t.match(await reconciled(play, '--rail', 'play'), matches)
  t.match(await reconciled(bank, '--rail', 'bank'), matches)
  t.match(await reconciled(play, '--rail', 'bank'), refused(/missing_here[^]*missing_there/))
  t.match(await reconciled(play), refused(/missing_there/), 'without the other rail')
})

t.test('the audit compares the log of its own rail', async (t) => {
  await assertCleanAudit(t, stack.dataDir)
  const ofBank = (): Promise<AuditResult> =>
    auditOf(stack.dataDir, storeSettings(stack.dataDir), ['--rail-dir', bankDir])
  t.match(await ofBank(), { clean: true })
  const [other = ''] = paid.production
  await changeJournal(bankDir, `DELETE FROM instructions WHERE id = '${other}'`)
  t.match(await ofBank(), { clean: false, report: new RegExp(`paid_exactly_once[^]*${other}`) })
  await assertCleanAudit(t, stack.dataDir)
  const [own = ''] = paid.sandbox
  await changeJournal(stack.dataDir, `DELETE FROM instructions WHERE id = '${own}'`)
  const { clean, report } = await auditOf(stack.dataDir)
  t.notOk(clean)
  t.match(report, new RegExp(`paid_exactly_once[^]*${own}`))
})
