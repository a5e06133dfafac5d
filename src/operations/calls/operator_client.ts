/** Clients of the operators' gRPC services, on one processor or on several. */
import type { ApprovalsDefinition } from '../../../protos/types/causeway/operator/v1/Approvals.js'
import type { CallersDefinition } from '../../../protos/types/causeway/operator/v1/Callers.js'
import type { OperatorDefinition } from '../../../protos/types/causeway/operator/v1/Operator.js'
import type { PartnerAdminDefinition } from '../../../protos/types/causeway/operator/v1/PartnerAdmin.js'
import type { WebhookAdminDefinition } from '../../../protos/types/causeway/operator/v1/WebhookAdmin.js'
import type { RecoveryDefinition } from '../../../protos/types/causeway/operator/v1/Recovery.js'
import type { ProtoGrpcType as ApprovalsProto } from '../../../protos/types/approvals.js'
import type { ProtoGrpcType as CallersProto } from '../../../protos/types/callers.js'
import type { ProtoGrpcType as OperatorProto } from '../../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../../protos/types/partners.js'
import type { ProtoGrpcType as RecoveryProto } from '../../../protos/types/recovery.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../../protos/types/webhook_admin.js'
import type { Clock } from '../../base/clock.js'
import { contracts } from '../../grpc/contracts.js'
import { callsToOne, type Calls, type OperatorAccess, type Service } from './calls.js'
import { callsToShards } from './calls_to_shards.js'

const callsTo = <Definition>(
  Service: Service<Definition>,
  access: OperatorAccess,
  clock: Clock,
): Calls<Definition> =>
  access.shards === undefined
    ? callsToOne(Service, access, clock)
    : callsToShards(Service, access, access.shards, clock)

export type OperatorClient = Calls<OperatorDefinition>
export type PartnerAdminClient = Calls<PartnerAdminDefinition>
export type ApprovalsClient = Calls<ApprovalsDefinition>
export type CallersClient = Calls<CallersDefinition>
export type RecoveryClient = Calls<RecoveryDefinition>
export type WebhookAdminClient = Calls<WebhookAdminDefinition>

export const connectOperator = (access: OperatorAccess, clock: Clock): OperatorClient =>
  callsTo(contracts<OperatorProto>().causeway.operator.v1.Operator, access, clock)

export const connectPartnerAdmin = (access: OperatorAccess, clock: Clock): PartnerAdminClient =>
  callsTo(contracts<PartnersProto>().causeway.operator.v1.PartnerAdmin, access, clock)

export const connectWebhookAdmin = (access: OperatorAccess, clock: Clock): WebhookAdminClient =>
  callsTo(contracts<WebhookAdminProto>().causeway.operator.v1.WebhookAdmin, access, clock)

export const connectRecovery = (access: OperatorAccess, clock: Clock): RecoveryClient =>
  callsTo(contracts<RecoveryProto>().causeway.operator.v1.Recovery, access, clock)

export const connectCallers = (access: OperatorAccess, clock: Clock): CallersClient =>
  callsTo(contracts<CallersProto>().causeway.operator.v1.Callers, access, clock)

export const connectApprovals = (access: OperatorAccess, clock: Clock): ApprovalsClient =>
  callsTo(contracts<ApprovalsProto>().causeway.operator.v1.Approvals, access, clock)

/** Clients of every service of operators, with one credential. */
export interface OperatorClients {
  readonly operator: OperatorClient
  readonly partners: PartnerAdminClient
  readonly webhooks: WebhookAdminClient
  readonly recovery: RecoveryClient
  readonly callers: CallersClient
  readonly approvals: ApprovalsClient
}

export const connectOperatorClients = (access: OperatorAccess, clock: Clock): OperatorClients => ({
  operator: connectOperator(access, clock),
  partners: connectPartnerAdmin(access, clock),
  webhooks: connectWebhookAdmin(access, clock),
  recovery: connectRecovery(access, clock),
  callers: connectCallers(access, clock),
  approvals: connectApprovals(access, clock),
})

export function closeOperatorClients(clients: OperatorClients): void {
  const { operator, partners, webhooks, recovery, callers, approvals } = clients
  for (const client of [operator, partners, webhooks, recovery, callers, approvals]) client.close()
}
