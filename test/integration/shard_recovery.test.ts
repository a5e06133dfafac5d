/**
 * One shard of a cluster in recovery mode: the other serves and pays, the operators' CLI shows
 * both, and the statement of the release has the instructions of both.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import type { ProtoGrpcType } from '../../protos/types/payouts.js'
import { callerEntry } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { EXIT_BOOKS_BEHIND } from '../../src/process/child.js'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { newId, type EffectId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { connectRail } from '../../src/rails/client.js'
import { freePort } from '../../src/supervisor/ports.js'
import { auditOf } from '../support/audit.js'
import { RAIL_TOKEN, startClusterProcesses } from '../support/cluster_processes.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { operatorCli, refused, usageError } from '../support/operator_cli.js'
import { requirePostgres } from '../support/postgres_server.js'
import { executedAt, writeStatement } from '../support/rail_journal.js'
import { aPayout } from '../support/requests.js'
import type { SingleProcess } from '../support/single_process.js'

requirePostgres(t)

const WITHIN_MS = 60_000
const [OPERATOR, SERVICE] = [
  'token-of-an-operator------------',
  'token-of-a-service--------------',
] as const
const BECAUSE = ['--reason', 'a test']
/** The sandbox bank accepts it and never executes it. */
const NEVER_EXECUTED = '9990000008'
const AMOUNT = '125000'
const BUS_NOT_CHECKED = 'The bus is not compared with the books yet: the release waits for it.'

const processes = await startClusterProcesses(
  t,
  [callerEntry('operator', 'anna', OPERATOR), callerEntry('service', 'payroll', SERVICE)],
  { RAIL_DELAY_MS: '20' },
)
const { folder, postgres, nats, railAddress, dataDirOf } = processes

const PORTS = {
  books_1: await freePort('127.0.0.1'),
  books_2: await freePort('127.0.0.1'),
} as const
type Shard = keyof typeof PORTS
const addressOf = (shard: Shard): string => `127.0.0.1:${PORTS[shard]}`

const start = async (
  shard: Shard,
  settings: Record<string, string> = {},
): Promise<SingleProcess> => {
  const own = { CLUSTER: 'member', SHARD: shard, ...settings }
  return (await processes.start(shard, own, PORTS[shard])).run
}

const operatorToken = join(folder, FILES.operatorToken)
writeFileSync(operatorToken, OPERATOR, { mode: 0o600 })
writeFileSync(
  join(folder, FILES.sandbox),
  JSON.stringify({ grpc_address: 'unused:1', brand: 'Service', serves_production: false }),
  { mode: 0o600 },
)
const PROCESSORS = [addressOf('books_1'), addressOf('books_2')].join()
const ops = operatorCli(folder, operatorToken, { PROCESSORS })

interface Paid {
  readonly code: status
  readonly id: string
  readonly status: string
}

const PARTNERS = { books_1: 'acme', books_2: 'globex' } as const

function call(shard: Shard, id: string | null, reference: string, account: string): Promise<Paid> {
  const { Payouts } = contracts<ProtoGrpcType>().causeway.v1
  const client = new Payouts(addressOf(shard), CLEARTEXT.channelCredentials(addressOf(shard)))
  const tenant = { partner_id: PARTNERS[shard], environment: 'sandbox' }
  const { beneficiary, currency } = aPayout()
  const payout = {
    ...{ idempotency_key: reference, amount: AMOUNT, currency, reference },
    beneficiary: { ...beneficiary, account_number: account },
  }
  return new Promise((resolve) => {
    const answered = (
      fault: { readonly code: status } | null,
      found: { readonly id?: string; readonly status?: string } = {},
    ): void => {
      client.close()
      const { id = '', status: state = '' } = found
      resolve({ code: fault?.code ?? status.OK, id, status: state })
    }
    if (id === null) client.Create({ tenant, payout }, bearer(SERVICE), answered)
    else client.Get({ tenant, payout_id: id }, bearer(SERVICE), answered)
  })
}

const pay = (shard: Shard, reference: string, account = '0123456789'): Promise<Paid> =>
  call(shard, null, reference, account)

async function paid(shard: Shard, reference: string): Promise<string> {
  const { id } = await pay(shard, reference)
  await eventually(`${reference} is completed`, async () => {
    return (await call(shard, id, reference, '')).status === 'completed'
  })
  return id
}

const executed = async (): Promise<number> => (await executedAt(dataDirOf('rail'))).length

/** Has the rail pay what the books of the first shard do not know. */
async function instructLost(reference: string, account: string): Promise<void> {
  const reported = new Promise<void>((resolve) => {
    const link = connectRail({
      address: railAddress,
      token: RAIL_TOKEN,
      shard: 'books_1',
      log: SILENT_LOG,
    })
    link.onReport((reports) => {
      for (const { reportId } of reports) {
        if (reportId !== null) link.send([{ kind: 'acknowledge', reportId }])
      }
      void link.close().then(resolve)
    })
    link.onLink(() =>
      link.send([
        {
          kind: 'instruct',
          instruction: {
            id: newId<EffectId>('payout', systemClock.now(), systemRandom()),
            ...{ environment: 'sandbox', purpose: 'payout', amount: BigInt(AMOUNT) },
            ...{ currency: 'VND', reference, hint: reference, notAfter: null },
            destination: {
              ...{ scheme: 'bank_account', country: 'VN', bankCode: '970436', account },
              ...{ accountType: '', reference1: '', reference2: '', name: 'Nguyen Van A' },
            },
          },
        },
      ]),
    )
  })
  await reported
}

let first = await start('books_1')
const second = await start('books_2')
await Promise.all([first.untilReady(), second.untilReady()])

t.test('one shard in recovery mode, the other serves', async (t) => {
  for (const shard of ['books_1', 'books_2'] as const) {
    const partner = PARTNERS[shard]
    await ops.out(`partner create ${partner} --corridors none --shard ${shard}`, ...BECAUSE)
    await ops.out(`deposit ${partner} sandbox VND 10000000`, ...BECAUSE)
  }
  await paid('books_1', 'before')
  await paid('books_2', 'before')
  await pay('books_2', 'of the other shard', NEVER_EXECUTED)
  t.equal(await first.end(), 0)
  await instructLost('lost', '0123456789')
  await instructLost('accepted', NEVER_EXECUTED)
  await eventually('the rail paid the lost one', async () => (await executed()) === 3)

  first = await start('books_1')
  t.equal(await first.ended, EXIT_BOOKS_BEHIND)
  await nats.kill()
  first = await start('books_1', { RECOVERY: 'yes' })
  await first.untilReady()

  await t.test('nothing is released while it is not known what the bus has', async (t) => {
    const release = ['recovery', 'release', '--shard', 'books_1', '--no-statement', '--yes']
    t.match(await ops(...release, ...BECAUSE), refused(/bus_not_checked/))
    t.match(await ops.out('recovery', 'show', '--shard', 'books_1'), BUS_NOT_CHECKED)
    await nats.start()
    await eventually('the bus is compared', async () => {
      return !(await ops.out('recovery', 'show', '--shard', 'books_1')).includes(BUS_NOT_CHECKED)
    })
  })

  await t.test('readiness is that of each shard', async (t) => {
    t.match(await first.readyz(), { status: 200, mode: 'recovery', shard: 'books_1' })
    t.match(await second.readyz(), { status: 200, mode: 'normal', shard: 'books_2' })
  })

  await t.test('only the shard in recovery mode refuses writes', async (t) => {
    t.equal((await pay('books_1', 'lost')).code, status.UNAVAILABLE)
    await paid('books_2', 'during the recovery')
    t.equal(await executed(), 4)
  })

  await t.test('the CLI shows and reaches both shards', async (t) => {
    t.match(await ops('recovery show'), usageError(/--shard, of books_1, books_2/))
    const shown = await ops.out('recovery', 'show', '--shard', 'books_1')
    t.match(shown, /^Recovery mode since .*: RECOVERY=yes\.\n/)
    t.match(shown, /Rail sandbox has instruction pout_\w+, which the books never sent/)
    t.match(await ops.out('recovery', 'show', '--shard', 'books_2'), 'Not in recovery mode.')
    t.match(await ops.out('partner', 'list'), /acme[^]*globex/)
    t.match(await ops.out('shard', 'list'), /books_1 .* owned\nbooks_2 .* owned/)
    t.match(await ops('partner suspend acme', ...BECAUSE), {
      err: /^books_1: recovery_active/,
    })
    await ops.out('partner', 'suspend', 'globex', ...BECAUSE)
    await ops.out('partner', 'resume', 'globex', ...BECAUSE)
  })

  await t.test('the release of the shard holds what its partner repeats', async (t) => {
    const statement = await writeStatement(dataDirOf('rail'), join(folder, 'statement.csv'))
    await paid('books_2', 'after the statement')
    const release = ['recovery', 'release', '--statement', statement, '--yes', ...BECAUSE]
    t.match(await ops.out(...release, '--shard', 'books_1'), '2 orphan executions are recorded')
    t.equal(await first.ended, 0, 'it restarts')
    first = await start('books_1')
    await eventually(
      'normal mode',
      async () => {
        const found = await first.readyz().catch(() => undefined)
        return found?.['mode'] === 'normal'
      },
      WITHIN_MS,
    )
    const before = await executed()
    t.match(await pay('books_1', 'lost'), { code: status.OK, status: 'created' })
    t.match(await pay('books_1', 'accepted', NEVER_EXECUTED), { status: 'created' })
    await paid('books_1', 'another one')
    await paid('books_2', 'at the end')
    t.equal(await executed(), before + 2, 'only the new ones are paid')
    const { data } = (await ops.json('recovery orphans')) as { data: readonly object[] }
    t.match(data, [
      { reference: 'lost', state: 'executed', held: [/^pout_/] },
      { reference: 'accepted', state: 'accepted', held: [/^pout_/] },
    ])
  })

  await Promise.all([first.end(), second.end()])
  const { clean, report } = await auditOf(dataDirOf('rail'), { STORE_URL: postgres.url })
  t.ok(clean, report)
  t.match(report, /^ok +orphans_are_paid_once /m)
})
