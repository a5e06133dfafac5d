/** Answers and refusals of unary gRPC calls, with the details of google.rpc.Status. */
import { status, type ServiceError } from '@grpc/grpc-js'
import protobuf from 'protobufjs'

export type Done = (error: ServiceError | null, answer?: object) => void

/** The answer of one unary call, with the members that a test uses. @throws ServiceError */
export const answerOf = <Answer extends object = object>(
  start: (done: Done) => unknown,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    start((error, answer) => (error === null ? resolve(answer as Answer) : reject(error)))
  })

export interface Refusal {
  readonly status: string
  readonly code: string
  readonly reason: string
  readonly domain: string
  readonly violations: readonly { readonly field: string; readonly description: string }[]
}

/** How a call is refused. */
export const refusalOf = (call: Promise<object>): Promise<Refusal> =>
  call.then(
    () => {
      throw new Error('not refused')
    },
    (fault: unknown) => refusalIn(fault as ServiceError),
  )

export function refusalIn(error: ServiceError): Refusal {
  const [bytes] = error.metadata.get('grpc-status-details-bin')
  const { code, message, details } = decode<Status>('Status', bytes as Buffer)
  if (code !== Number(error.code) || message !== error.details)
    throw new Error('the details differ')
  const partOf = <Part>(type: string): Part | undefined => {
    const found = details.find((any) => any.type_url === `type.googleapis.com/google.rpc.${type}`)
    return found && decode<Part>(type, found.value)
  }
  const { reason, domain } = partOf<{ reason: string; domain: string }>('ErrorInfo')!
  const bad = partOf<{ field_violations: Refusal['violations'] }>('BadRequest')
  return {
    status: status[error.code],
    code: String(error.metadata.get('causeway-error')[0]),
    reason,
    domain,
    violations: bad?.field_violations ?? [],
  }
}

interface Status {
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}

const { root } = protobuf.parse(
  `syntax = "proto3"; package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message BadRequest {
    message FieldViolation { string field = 1; string description = 2; }
    repeated FieldViolation field_violations = 1;
  }`,
  { keepCase: true },
)

const decode = <Message>(type: string, bytes: Uint8Array): Message => {
  const found = root.lookupType(`google.rpc.${type}`)
  return found.toObject(found.decode(bytes)) as Message
}
