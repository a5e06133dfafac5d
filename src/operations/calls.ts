/**
 * Calls to one of the processor's services, each a promise.
 *
 * Owns: the connection, the deadline, what a failed call says to a person. Does not own: what the
 * calls do (the processor), nor their messages (protos).
 */
import {
  credentials,
  status,
  type ChannelCredentials,
  type Client,
  type ServiceError,
} from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../base/internal_token.js'
import type { Sandbox } from './sandbox.js'

export const ANSWER_WITHIN_MS = 10 * SECOND

/** The names of a generated definition, without the index signature that it inherits. */
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
  /** @throws Refused, or Error when it is not answered; both with what a person should read */
  call<N extends NameIn<Definition>>(
    name: N,
    request: RequestOf<Definition[N]>,
  ): Promise<AnswerOf<Definition[N]>>
  close(): void
}

/** A service as the contracts load it. */
interface Service<Definition> {
  readonly service: Definition
  new (address: string, credentials: ChannelCredentials): Client
}

export function callsTo<Definition>(
  Service: Service<Definition>,
  sandbox: Sandbox,
  clock: Clock,
): Calls<Definition> {
  const client = new Service(sandbox.grpc_address, credentials.createInsecure())
  const metadata = bearer(sandbox.internal_token)
  return {
    call: <N extends NameIn<Definition>>(name: N, request: RequestOf<Definition[N]>) => {
      type Method = Definition[N]
      // The compiler sees any method of any service here, not the one of this name.
      const method = Service.service[name] as MethodDefinition<
        RequestOf<Method>,
        unknown,
        unknown,
        AnswerOf<Method>
      >
      const deadline = clock.now() + ANSWER_WITHIN_MS
      return new Promise<AnswerOf<Method>>((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          { deadline },
          (error, answer) => {
            if (answer === undefined) reject(faultOf(error, sandbox.grpc_address))
            else resolve(answer)
          },
        )
      })
    },
    close: () => client.close(),
  }
}

/** The service said no. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** What a person should read of a call that failed. */
export function faultOf(error: ServiceError | null, address: string): Error {
  if (error?.code === status.UNAVAILABLE) {
    return new Error(`Nothing answers at ${address}: is the stack running? (make run)`)
  }
  const [code] = error?.metadata.get('causeway-error') ?? []
  const told = error?.details ?? 'no answer'
  return code === undefined ? new Error(told) : new Refused(String(code), told)
}
