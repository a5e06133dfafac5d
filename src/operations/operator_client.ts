/**
 * The operators' service, each call a promise.
 *
 * Owns: the connection and the deadline. Does not own: what the calls do (the processor's operator
 * service), nor their messages (protos/operator.proto).
 */
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { OperatorDefinition } from '../../protos/types/causeway/v1/Operator.js'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../base/internal_token.js'
import { contracts } from '../base/protos.js'
import type { Sandbox } from './sandbox.js'

const ANSWER_WITHIN_MS = 10 * SECOND

/** The definition's own names, without the index signature that it inherits. */
type Definition = {
  [Name in keyof OperatorDefinition as string extends Name ? never : Name]: OperatorDefinition[Name]
}
type Name = keyof Definition
type RequestOf<N extends Name> =
  Definition[N] extends MethodDefinition<infer Request, infer _Out, infer _In, infer _Answer>
    ? Request
    : never
type AnswerOf<N extends Name> =
  Definition[N] extends MethodDefinition<infer _Request, infer _Out, infer _In, infer Answer>
    ? Answer
    : never

export interface OperatorClient {
  /** @throws Error with what a person should read when the call is refused or not answered */
  call<N extends Name>(name: N, request: RequestOf<N>): Promise<AnswerOf<N>>
  close(): void
}

export function connectOperator(sandbox: Sandbox, clock: Clock): OperatorClient {
  const { Operator } = contracts<ProtoGrpcType>().causeway.v1
  const client = new Operator(sandbox.grpc_address, credentials.createInsecure())
  const metadata = bearer(sandbox.internal_token)
  return {
    call: <N extends Name>(name: N, request: RequestOf<N>) => {
      // The compiler sees the union of all methods here, not the one of this name.
      const method = Operator.service[name] as unknown as MethodDefinition<
        RequestOf<N>,
        unknown,
        unknown,
        AnswerOf<N>
      >
      const deadline = clock.now() + ANSWER_WITHIN_MS
      return new Promise<AnswerOf<N>>((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          { deadline },
          (error, answer) => {
            if (answer === undefined) reject(faultOf(error, sandbox))
            else resolve(answer)
          },
        )
      })
    },
    close: () => client.close(),
  }
}

function faultOf(error: ServiceError | null, { grpc_address }: Sandbox): Error {
  if (error?.code === status.UNAVAILABLE) {
    return new Error(`Nothing answers at ${grpc_address}: is the stack running? (make run)`)
  }
  return new Error(error?.details ?? 'no answer')
}
