/** The services that operators call, as the commands hold them. */
import type { OperatorDefinition } from '../../protos/types/causeway/v1/Operator.js'
import type { PartnerAdminDefinition } from '../../protos/types/causeway/v1/PartnerAdmin.js'
import type { WebhookAdminDefinition } from '../../protos/types/causeway/v1/WebhookAdmin.js'
import type { RecoveryDefinition } from '../../protos/types/causeway/v1/Recovery.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../protos/types/webhook_admin.js'
import type { Clock } from '../base/clock.js'
import { contracts } from '../base/protos.js'
import { callsTo, type Calls } from './calls.js'
import type { Sandbox } from './sandbox.js'

export type OperatorClient = Calls<OperatorDefinition>
export type PartnerAdminClient = Calls<PartnerAdminDefinition>
export type RecoveryClient = Calls<RecoveryDefinition>
export type WebhookAdminClient = Calls<WebhookAdminDefinition>

export const connectOperator = (sandbox: Sandbox, clock: Clock): OperatorClient =>
  callsTo(contracts<OperatorProto>().causeway.v1.Operator, sandbox, clock)

export const connectPartnerAdmin = (sandbox: Sandbox, clock: Clock): PartnerAdminClient =>
  callsTo(contracts<PartnersProto>().causeway.v1.PartnerAdmin, sandbox, clock)

export const connectWebhookAdmin = (sandbox: Sandbox, clock: Clock): WebhookAdminClient =>
  callsTo(contracts<WebhookAdminProto>().causeway.v1.WebhookAdmin, sandbox, clock)

export const connectRecovery = (sandbox: Sandbox, clock: Clock): RecoveryClient =>
  callsTo(contracts<RecoveryProto>().causeway.v1.Recovery, sandbox, clock)
