/** Calls of operators to one processor: each is a promise with a deadline. */
import {
  status,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import { SECOND, type Clock } from '../../base/clock.js'
import { showCertificate } from '../../auth/operator_certificates.js'
import { bearer } from '../../grpc/bearer.js'
import { CLEARTEXT, type GrpcTls } from '../../grpc/tls.js'

export const CALL_TIMEOUT_MS = 10 * SECOND

/** Method names of a generated definition, without its index signature. */
export type NameIn<Definition> = keyof {
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

/** The shards of the processors that are asked (./shards). */
export interface Shards {
  /** The address of the processor, by name of the shard. */
  readonly reached: ReadonlyMap<string, string>
  readonly missing: readonly string[]
  /** False means that the books have nothing in common. */
  readonly isCluster: boolean
}

/** The processor's address and the operator's token. */
export interface OperatorAccess {
  readonly address: string
  /** Called for each call. @throws CommandFault without a usable token */
  readonly token: () => string
  /** The operator's certificate (DER), when `token` is that of a console. */
  readonly certificate?: Buffer
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
  /** How long a call may take. Default: CALL_TIMEOUT_MS. */
  readonly timeoutMs?: number
  /** Where the shards are, if there are several processors; `address` is then not used. */
  readonly shards?: Shards
  /** All shards, when `address` is the one that the operator named. */
  readonly among?: Shards
}

/** A service client class of proto-loader. */
export interface Service<Definition> {
  readonly service: Definition
  new (address: string, credentials: ChannelCredentials, options: ChannelOptions): Client
}

/** What a call presents. @throws CommandFault without a usable token */
export function credentialsOf({ token, certificate }: OperatorAccess): Metadata {
  const metadata = bearer(token())
  if (certificate !== undefined) showCertificate(metadata, certificate)
  return metadata
}

export function callsToOne<Definition>(
  Service: Service<Definition>,
  access: OperatorAccess,
  clock: Clock,
): Calls<Definition> {
  const { address, tls = CLEARTEXT, timeoutMs = CALL_TIMEOUT_MS } = access
  const client = new Service(address, tls.channelCredentials(address), tls.channelOptions(address))
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
      const deadline = clock.now() + timeoutMs
      const metadata = credentialsOf(access)
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

/** The call was sent and had no answer: a change may have been made. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

/** The call had no answer before its deadline. */
export class Late extends Unanswered {
  override name = 'Late'
}

/** The call was not sent: no processor has seen it, so it can be made again. */
export class NotSent extends Error {
  override name = 'NotSent'
}

/** How @grpc/grpc-js says that it had no connection to send the call on. */
const NOT_SENT = /^(No connection established|Name resolution failed)/
/** How it says that the deadline came before there was a connection. */
const NEVER_SENT = /Waiting for (LB pick|name resolution)/

/** The error of a failed call, with a message for operators. */
export function faultOf(error: ServiceError | null, address: string): Error {
  const [code] = error?.metadata.get('causeway-error') ?? []
  const details = error?.details ?? 'no reply'
  if (error?.code === status.UNAVAILABLE) {
    if (code !== undefined) return new Error(details) // it is the same call later
    return NOT_SENT.test(details)
      ? new NotSent(`${address} is unreachable: is the stack running? (make run)`)
      : new Unanswered(`The connection to ${address} ended before the answer.`)
  }
  if (code === undefined && error?.code === status.DEADLINE_EXCEEDED) {
    return NEVER_SENT.test(details)
      ? new NotSent(
          `There was no connection to ${address} in time: is it the port of another program, or ` +
            'behind a firewall?',
        )
      : new Late(`${address} has not answered in time (${details}).`)
  }
  if (code === undefined) return new Error(details)
  const [request] = error?.metadata.get('causeway-approval-request') ?? []
  if (request === undefined) return new Refused(String(code), details)
  const next = `Another operator: approvals approve ${String(request)} --reason TEXT`
  return new Refused(String(code), `${details}\n${next}`)
}
