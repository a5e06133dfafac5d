/**
 * The access tables of our gRPC ports: the roles that may call each rpc. No other file decides
 * access.
 *
 * - The types list every service, and every rpc of those that are not public: one without an entry
 *   does not compile, and a server with one does not start.
 * - A call is authorized by its metadata, before its message is read.
 */
import type { ProtoGrpcType as AccountProto } from '../../protos/types/account.js'
import type { ProtoGrpcType as ApprovalsProto } from '../../protos/types/approvals.js'
import type { ProtoGrpcType as BeneficiariesProto } from '../../protos/types/beneficiaries.js'
import type { ProtoGrpcType as CallersProto } from '../../protos/types/callers.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as FundingProto } from '../../protos/types/funding.js'
import type { ProtoGrpcType as LedgerProto } from '../../protos/types/ledger.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as RailProto } from '../../protos/types/rail.js'
import type { ProtoGrpcType as ReconciliationProto } from '../../protos/types/reconciliation.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as ScreeningProto } from '../../protos/types/screening.js'
import type { ProtoGrpcType as ShardsProto } from '../../protos/types/shards.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../protos/types/webhook_admin.js'
import type { ProtoGrpcType as WebhookControlProto } from '../../protos/types/webhook_control.js'
import type { ProtoGrpcType as WebhooksProto } from '../../protos/types/webhooks.js'
import type { CallAuthorizer } from '../grpc/server.js'
import { rolesOf, setCaller, type Role } from './caller.js'
import type { Callers } from './callers.js'

type PublicV1 = (AccountProto & BeneficiariesProto & EventsProto & FundingProto)['causeway']['v1']
type InternalV1 = (CommandStreamProto &
  DirectoryProto &
  WebhookControlProto &
  WebhooksProto)['causeway']['internal']['v1']
type OperatorV1 = (ApprovalsProto &
  CallersProto &
  LedgerProto &
  OperatorProto &
  PartnersProto &
  ReconciliationProto &
  RecoveryProto &
  ShardsProto &
  WebhookAdminProto)['causeway']['operator']['v1']
type RailV1 = RailProto['causeway']['rail']['v1']
type ScreeningV1 = ScreeningProto['causeway']['screening']['v1']

/** The rpcs of a generated definition, without its index signature. */
type RpcsOf<Definition> = {
  readonly [Rpc in keyof Definition as string extends Rpc ? never : Rpc & string]: readonly Role[]
}
type ServicesOf<Package, Prefix extends string> = {
  readonly [
    Name in keyof Package as Package[Name] extends { service: unknown }
      ? `${Prefix}.${Name & string}`
      : never
  ]: Package[Name] extends { service: infer Definition } ? RpcsOf<Definition> : never
}

const GATEWAY = ['gateway'] as const
const WEBHOOKS = ['webhooks'] as const
const SERVICE = ['service'] as const
/** Every operator. */
const READ = ['read', 'operate', 'decide'] as const
const OPERATE = ['operate'] as const
/** Moves money, or ends a payment. */
const DECIDE = ['decide'] as const
const PROCESSOR = ['processor'] as const

/** Services of which every rpc has the same roles: the public contracts. */
export const SERVICE_ACCESS = {
  'causeway.v1.PaymentIntents': SERVICE,
  'causeway.v1.Payouts': SERVICE,
  'causeway.v1.Beneficiaries': SERVICE,
  'causeway.v1.Funding': SERVICE,
  'causeway.v1.WebhookEndpoints': SERVICE,
  'causeway.v1.Events': SERVICE,
  'causeway.v1.Accounts': SERVICE,
} as const satisfies Record<keyof ServicesOf<PublicV1, 'causeway.v1'>, readonly Role[]>

export const RPC_ACCESS = {
  'causeway.internal.v1.CommandStream': { Open: GATEWAY },
  'causeway.internal.v1.Directory': { WatchPartners: GATEWAY, WatchEndpoints: WEBHOOKS },
  'causeway.internal.v1.EventOutcomes': {
    Record: WEBHOOKS,
    RecordDead: WEBHOOKS,
    DisableEndpoint: WEBHOOKS,
  },
  'causeway.internal.v1.WebhookControl': { Connect: WEBHOOKS, Claim: WEBHOOKS },
  'causeway.operator.v1.Operator': {
    CreatePartner: OPERATE,
    IssueKey: OPERATE,
    Deposit: DECIDE,
    Withdraw: DECIDE,
    CorrectDeposit: DECIDE,
    SetRate: OPERATE,
    SetRates: OPERATE,
    ListRates: READ,
    TrialBalance: READ,
    ListHeldPayouts: READ,
    ApprovePayout: DECIDE,
    RejectPayout: DECIDE,
    ResolvePayout: DECIDE,
    ReversePayout: DECIDE,
    ShowPayout: READ,
    ListUnknownOutcomes: READ,
    Inquire: OPERATE,
    ResolveIntent: DECIDE,
    ReverseIntent: DECIDE,
    ShowIntent: READ,
    ShowPayee: READ,
    ListDiscrepancies: READ,
    ListArchivable: DECIDE,
    RemoveArchived: DECIDE,
    ResolveDiscrepancy: DECIDE,
    SetRoute: OPERATE,
    SetRouteRail: OPERATE,
    PauseSubmissions: OPERATE,
    ResumeSubmissions: OPERATE,
    ListSubmissionPauses: READ,
    ListRoutes: READ,
    SetBalanceAlert: OPERATE,
    Find: READ,
    ShowSystem: READ,
    EnsureDemo: ['supervisor'],
  },
  'causeway.operator.v1.PartnerAdmin': {
    List: READ,
    Suspend: OPERATE,
    Resume: OPERATE,
    SetAllowedIps: OPERATE,
    SetPackages: OPERATE,
    SetCorridors: OPERATE,
    SetRateLimit: OPERATE,
    ListKeys: READ,
    ShowUsage: READ,
    RevokeKey: OPERATE,
    ListActions: READ,
    ReencryptSecrets: OPERATE,
    EraseUser: DECIDE,
    ListErasures: READ,
  },
  'causeway.operator.v1.Approvals': { List: READ, Approve: DECIDE, Reject: DECIDE },
  'causeway.operator.v1.Callers': {
    Identify: READ,
    List: READ,
    Create: DECIDE,
    Rotate: DECIDE,
    Revoke: DECIDE,
  },
  'causeway.operator.v1.Reconciliation': { Movements: READ, MovementsOf: READ, Conclude: READ },
  'causeway.operator.v1.Ledger': { Entries: READ, Balances: READ },
  'causeway.operator.v1.Shards': {
    Show: READ,
    List: READ,
    Create: OPERATE,
    Move: DECIDE,
    SkipSetting: DECIDE,
    MovePartner: DECIDE,
    ShowPartner: READ,
  },
  'causeway.operator.v1.Recovery': {
    Show: READ,
    AddOrphans: DECIDE,
    CheckStatement: READ,
    Release: DECIDE,
    ListOrphans: READ,
    ResolveOrphan: DECIDE,
    ListHeldIntents: READ,
    ApproveIntent: DECIDE,
    RejectIntent: DECIDE,
    NoteBackup: READ,
  },
  'causeway.operator.v1.WebhookAdmin': {
    Status: READ,
    ListEndpoints: READ,
    ListDead: READ,
    Redrive: OPERATE,
    EnableEndpoint: OPERATE,
    DisableEndpoint: OPERATE,
    ListPoison: READ,
  },
  'causeway.rail.v1.Rail': { Describe: PROCESSOR, Summarize: PROCESSOR, Link: PROCESSOR },
  'causeway.screening.v1.Screening': { Screen: PROCESSOR },
} as const satisfies ServicesOf<InternalV1, 'causeway.internal.v1'> &
  ServicesOf<OperatorV1, 'causeway.operator.v1'> &
  ServicesOf<RailV1, 'causeway.rail.v1'> &
  ServicesOf<ScreeningV1, 'causeway.screening.v1'>

const ROLES_OF_SERVICE: ReadonlyMap<string, readonly Role[]> = new Map(
  Object.entries<readonly Role[]>(SERVICE_ACCESS),
)

const ROLES_OF_PATH: ReadonlyMap<string, readonly Role[]> = new Map(
  Object.entries<Readonly<Record<string, readonly Role[]>>>(RPC_ACCESS).flatMap(([service, rpcs]) =>
    Object.entries(rpcs).map(([rpc, roles]) => [`/${service}/${rpc}`, roles] as const),
  ),
)

/** @param path `/package.Service/Rpc` */
const rolesOfPath = (path: string): readonly Role[] | undefined =>
  ROLES_OF_PATH.get(path) ?? ROLES_OF_SERVICE.get(path.slice(1, path.lastIndexOf('/')))

/** Authorizes each call by the tables. A granted call has its caller (`callerOf`). */
export const createRpcAccess = (callers: Callers): CallAuthorizer => ({
  isListed: (path) => rolesOfPath(path) !== undefined,
  authorize: (path, metadata, certificate) => {
    const caller = callers.identify(metadata, certificate)
    if (caller === undefined) return 'unauthenticated'
    setCaller(metadata, caller)
    const allowed = rolesOfPath(path) ?? []
    return rolesOf(caller).some((role) => allowed.includes(role)) ? 'granted' : 'denied'
  },
})
