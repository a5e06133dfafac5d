/**
 * Every rpc of every service, called with every kind of credential, against the real servers of
 * the processor and the rail. The expected access is written here a second time.
 */
import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { Caller, OperatorRole } from '../../src/auth/caller.js'
import { createRpcAccess, RPC_ACCESS, SERVICE_ACCESS } from '../../src/auth/rpc_access.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { systemClock } from '../../src/base/clock.js'
import { createGrpcServer } from '../../src/grpc/server.js'
import { systemRandom } from '../../src/base/random.js'
import type { Work } from '../../src/processor/cycle/command.js'
import { createServer } from '../../src/processor/server.js'
import {
  authorizationOf,
  nameOf,
  PROCESSOR_RPCS,
  RAIL_RPCS,
  SCREENING_RPCS,
  type Rpc,
} from '../support/rpcs.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { startScreening } from '../../src/screening/sandbox/server.js'
import { aRail, shortFolder } from '../rails/harness.js'

/** The permitted calls of each kind of caller; all others are denied. */
const READ = `
  Operator/ListRates Operator/TrialBalance Operator/ListHeldPayouts Operator/ShowPayout
  Operator/Find Operator/ShowSystem Operator/ListUnknownOutcomes Operator/ShowIntent
  Operator/ListDiscrepancies Operator/ListRoutes Operator/ListSubmissionPauses Operator/ShowPayee
  PartnerAdmin/List PartnerAdmin/ListKeys PartnerAdmin/ListActions PartnerAdmin/ListErasures
  PartnerAdmin/ShowUsage
  Ledger/Entries Ledger/Balances
  Reconciliation/Movements Reconciliation/MovementsOf Reconciliation/Conclude
  Recovery/Show Recovery/CheckStatement Recovery/ListOrphans Recovery/NoteBackup
  Recovery/ListHeldIntents
  Callers/Identify Callers/List Approvals/List Shards/Show Shards/List Shards/ShowPartner
  WebhookAdmin/Status WebhookAdmin/ListEndpoints WebhookAdmin/ListDead WebhookAdmin/ListPoison`
const ALLOWED: Readonly<Record<string, string>> = {
  gateway: 'CommandStream/Open Directory/WatchPartners',
  webhooks: `Directory/WatchEndpoints EventOutcomes/Record EventOutcomes/RecordDead
    EventOutcomes/DisableEndpoint WebhookControl/Connect WebhookControl/Claim`,
  processor: 'Rail/Describe Rail/Summarize Rail/Link Screening/Screen',
  supervisor: 'Operator/EnsureDemo',
  service: `PaymentIntents/Create PaymentIntents/Get PaymentIntents/Cancel PaymentIntents/Refund
    PaymentIntents/ListByUser PaymentIntents/List PaymentIntents/RemintSession PaymentIntents/Scan
    PaymentIntents/Confirm PaymentIntents/MintReceiptToken PaymentIntents/GetReceipt
    Payouts/Create Payouts/Get Payouts/List Payouts/Balances Payouts/Cancel Payouts/Simulate
    Beneficiaries/Create Beneficiaries/Get Beneficiaries/List Beneficiaries/Disable
    Funding/CreateDeposit Funding/CreateFxQuote Funding/CreateFxConversion
    Funding/ListBalanceTransactions WebhookEndpoints/Create WebhookEndpoints/Get
    WebhookEndpoints/List WebhookEndpoints/Update WebhookEndpoints/Delete WebhookEndpoints/Enable
    WebhookEndpoints/Disable WebhookEndpoints/RotateSecret WebhookEndpoints/Test
    WebhookEndpoints/ListDeliveries WebhookEndpoints/Recover Events/List Events/Resend Events/Watch
    Accounts/Get`,
  read: READ,
  operate: `${READ} Operator/CreatePartner Operator/IssueKey Operator/SetRate Operator/SetRates
    Operator/SetRoute Operator/SetRouteRail Operator/PauseSubmissions Operator/ResumeSubmissions
    Operator/SetBalanceAlert Operator/Inquire PartnerAdmin/Suspend PartnerAdmin/Resume
    PartnerAdmin/SetAllowedIps
    PartnerAdmin/SetPackages PartnerAdmin/SetCorridors PartnerAdmin/SetRateLimit
    PartnerAdmin/RevokeKey Shards/Create PartnerAdmin/ReencryptSecrets WebhookAdmin/Redrive
    WebhookAdmin/EnableEndpoint WebhookAdmin/DisableEndpoint`,
  decide: `${READ} Operator/Deposit Operator/Withdraw Operator/CorrectDeposit
    Operator/ApprovePayout Operator/RejectPayout Operator/ResolvePayout Operator/ReversePayout
    Operator/ResolveIntent Operator/ReverseIntent
    Operator/ResolveDiscrepancy Operator/ListArchivable Operator/RemoveArchived
    Recovery/AddOrphans Recovery/Release Recovery/ResolveOrphan
    Recovery/ApproveIntent Recovery/RejectIntent
    Shards/Move Shards/MovePartner Shards/SkipSetting Callers/Create Callers/Rotate
    Callers/Revoke Approvals/Approve
    Approvals/Reject PartnerAdmin/EraseUser`,
}
const KINDS = Object.keys(ALLOWED)
const isOperator = (kind: string): kind is OperatorRole =>
  ['read', 'operate', 'decide'].includes(kind)
const tokenOf = (kind: string): string => `token-of-${kind}`

/** One caller of each kind; an operator for each role alone. */
const callers = createCallers(
  KINDS.map((kind) => {
    const own = isOperator(kind) ? 'operator' : (kind as Caller['kind'])
    const entry = configuredCaller(callerEntry(own, `a-${kind}`, tokenOf(kind)))
    const roles = isOperator(kind) ? [kind] : entry.caller.roles
    return { ...entry, caller: { ...entry.caller, roles } }
  }),
  systemClock,
)

const CREDENTIALS: Readonly<Record<string, Metadata>> = {
  none: new Metadata(),
  'a wrong token': bearer('unknown-token'),
  'an empty token': bearer(''),
  'a token in another scheme': metadataWith(`Basic ${tokenOf('decide')}`),
  'a name instead of a token': bearer('a-decide'),
  ...Object.fromEntries(KINDS.map((kind) => [kind, bearer(tokenOf(kind))])),
}

function metadataWith(value: string): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', value)
  return metadata
}

async function openProcessor(t: Test): Promise<string> {
  const refuse = async () => ({ ok: false, code: 'payout_not_found' }) as const
  const silent = (): void => undefined
  const tables = { partners: new Map(), endpoints: new Map(), keys: new Map() }
  const memory = { ...tables, orphans: new Map() }
  const server = createServer(
    {
      clock: systemClock,
      random: systemRandom(),
      memory: memory as never,
      pipeline: { submit: ({ reply }: Work) => reply({ ok: false, code: 'payout_not_found' }) },
      reader: { run: refuse },
    },
    callers,
    {
      handlers: { WatchPartners: answerOnce, WatchEndpoints: answerOnce },
      own: () => ({}),
      close: silent,
    },
  )
  t.teardown(() => server.close())
  return `127.0.0.1:${await server.bind('127.0.0.1:0')}`
}

interface Writing {
  write(update: object): unknown
  end(): unknown
}

const answerOnce = (stream: Writing): void => {
  stream.write({})
  stream.end()
}

const SERVED: readonly (readonly [Rpc[], (t: Test) => Promise<string>])[] = [
  [PROCESSOR_RPCS, openProcessor],
  [
    RAIL_RPCS,
    async (t) => {
      const { address } = await aRail(t, shortFolder(t), { address: '127.0.0.1:0', callers })
      return address
    },
  ],
  [
    SCREENING_RPCS,
    async (t) => {
      const server = await startScreening({ address: '127.0.0.1:0', callers, tls: CLEARTEXT })
      t.teardown(server.close)
      return `127.0.0.1:${server.port}`
    },
  ],
]

for (const [rpcs, open] of SERVED) {
  t.test(`each rpc is open to its callers only: ${rpcs.length} rpcs`, async (t) => {
    const client = new Client(await open(t), credentials.createInsecure())
    t.teardown(() => client.close())
    for (const rpc of rpcs) {
      const name = nameOf(rpc)
      const found = await Promise.all(
        Object.entries(CREDENTIALS).map(
          async ([who, metadata]) => [who, await authorizationOf(client, rpc, metadata)] as const,
        ),
      )
      const expected = Object.keys(CREDENTIALS).map((who) => {
        const allowed = ALLOWED[who]?.split(/\s+/)
        if (allowed === undefined) return [who, 'unauthenticated']
        return [who, allowed.includes(name) ? 'granted' : 'denied']
      })
      t.same(Object.fromEntries(found), Object.fromEntries(expected), name)
    }
  })
}

t.test('the table and the expectation name rpcs that exist, and all of them', async (t) => {
  const served = SERVED.flatMap(([rpcs]) => rpcs.map(({ path }) => path))
  const listed = Object.entries(RPC_ACCESS).flatMap(([service, rpcs]) =>
    Object.keys(rpcs).map((rpc) => `/${service}/${rpc}`),
  )
  const services = Object.keys(SERVICE_ACCESS)
  const whole = served.filter((path) => services.some((name) => path.startsWith(`/${name}/`)))
  t.same([...listed, ...whole].sort(), served.sort())
  t.same(
    services.filter((name) => !whole.some((path) => path.startsWith(`/${name}/`))),
    [],
  )
  const short = new Set(SERVED.flatMap(([rpcs]) => rpcs.map(nameOf)))
  const expected = Object.values(ALLOWED).flatMap((text) => text.trim().split(/\s+/))
  t.same([...new Set(expected)].sort(), [...short].sort())
})

t.test('the package of a service determines which callers it accepts', async (t) => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    'causeway.v1': ['service'],
    'causeway.internal.v1': ['gateway', 'webhooks'],
    'causeway.operator.v1': ['supervisor', 'read', 'operate', 'decide'],
    'causeway.rail.v1': ['processor'],
    'causeway.screening.v1': ['processor'],
  }
  const found: Record<string, string[]> = {}
  const whole = Object.entries(SERVICE_ACCESS).map(
    ([name, roles]) => [name, { all: roles }] as const,
  )
  for (const [service, rpcs] of [...Object.entries(RPC_ACCESS), ...whole]) {
    const inside = (found[service.slice(0, service.lastIndexOf('.'))] ??= [])
    inside.push(...Object.values<readonly string[]>(rpcs).flat())
  }
  const sets = (roles: Readonly<Record<string, readonly string[]>>): object =>
    Object.fromEntries(Object.entries(roles).map(([name, all]) => [name, [...new Set(all)].sort()]))
  t.same(sets(found), sets(expected))
})

t.test('a server with an rpc that the table lacks does not start', async (t) => {
  const end = { code: status.UNAUTHENTICATED, details: '' }
  const server = createGrpcServer({
    access: createRpcAccess(callers),
    ...{ unauthenticated: end, denied: end, tooSlow: end, malformed: () => end },
  })
  const unlisted = { path: '/causeway.operator.v1.Operator/PayMe' } as never
  t.throws(() => server.addService({ PayMe: unlisted }, {}), /no entry in the access/)
})
