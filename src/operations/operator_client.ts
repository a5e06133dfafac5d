/** Clients of the operators' gRPC services; each call is a promise with a deadline. */
import { status, type ChannelCredentials, type Client, type ServiceError } from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ApprovalsDefinition } from '../../protos/types/causeway/operator/v1/Approvals.js'
import type { CallersDefinition } from '../../protos/types/causeway/operator/v1/Callers.js'
import type { OperatorDefinition } from '../../protos/types/causeway/operator/v1/Operator.js'
import type { PartnerAdminDefinition } from '../../protos/types/causeway/operator/v1/PartnerAdmin.js'
import type { WebhookAdminDefinition } from '../../protos/types/causeway/operator/v1/WebhookAdmin.js'
import type { RecoveryDefinition } from '../../protos/types/causeway/operator/v1/Recovery.js'
import type { ProtoGrpcType as ApprovalsProto } from '../../protos/types/approvals.js'
import type { ProtoGrpcType as CallersProto } from '../../protos/types/callers.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../protos/types/webhook_admin.js'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../base/bearer.js'
import { CLEARTEXT, type GrpcTls } from '../base/grpc_tls.js'
import { contracts } from '../base/protos.js'

export const CALL_TIMEOUT_MS = 10 * SECOND

/** Method names of a generated definition, without its index signature. */
type NameIn<Definition> = keyof {
  [Name in keyof Definition as string extends Name ? never : Name]: Definition[Name]
}
type RequestOf<Method> =
  Method extends MethodDefinition<infer Request, infer _Out, infer _In, infer _Answer>
    ? Request
    : never
type AnswerOf<Method> =
  Method extends MethodDefinition<infer _Request, infer _Out, infer _In, infer Answer>
    ? Answer
    : never

export interface Calls<Definition> {
  /** @throws Refused, or Error when the call fails; the message is for operators */
  call<N extends NameIn<Definition>>(
    name: N,
    request: RequestOf<Definition[N]>,
  ): Promise<AnswerOf<Definition[N]>>
  close(): void
}

/** Where the processor is, and the operator's token. */
export interface OperatorAccess {
  readonly address: string
  /** Called for each call. @throws CommandFault without a usable token */
  readonly token: () => string
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
}

/** A service client class of proto-loader. */
interface Service<Definition> {
  readonly service: Definition
  new (address: string, credentials: ChannelCredentials): Client
}

export function callsTo<Definition>(
  Service: Service<Definition>,
  { address, token, tls = CLEARTEXT }: OperatorAccess,
  clock: Clock,
): Calls<Definition> {
  const client = new Service(address, tls.channelCredentials(address))
  return {
    call: async <N extends NameIn<Definition>>(name: N, request: RequestOf<Definition[N]>) => {
      type Method = Definition[N]
      // TypeScript loses the relation between the name and the method here.
      const method = Service.service[name] as MethodDefinition<
        RequestOf<Method>,
        unknown,
        unknown,
        AnswerOf<Method>
      >
      const deadline = clock.now() + CALL_TIMEOUT_MS
      const metadata = bearer(token())
      return new Promise<AnswerOf<Method>>((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          { deadline },
          (error, answer) => {
            if (answer === undefined) reject(faultOf(error, address))
            else resolve(answer)
          },
        )
      })
    },
    close: () => client.close(),
  }
}

/** The service refused the call with a code of the error registry. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of a failed call, with a message for operators. */
export function faultOf(error: ServiceError | null, address: string): Error {
  if (error?.code === status.UNAVAILABLE) {
    return new Error(`${address} is unreachable: is the stack running? (make run)`)
  }
  const [code] = error?.metadata.get('causeway-error') ?? []
  const details = error?.details ?? 'no reply'
  if (code === undefined) return new Error(details)
  const [request] = error?.metadata.get('causeway-approval-request') ?? []
  if (request === undefined) return new Refused(String(code), details)
  const next = `Another operator: approvals approve ${String(request)} --reason TEXT`
  return new Refused(String(code), `${details}\n${next}`)
}

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
