/** Unary calls of any rpc by its name, and how they end. */
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { bearer } from '../../src/grpc/bearer.js'
import { nameOf, PROCESSOR_RPCS } from './rpcs.js'

/** How a call was refused. */
export interface RpcRefusal {
  readonly status: string
  readonly code: string
  readonly details: string
}

/**
 * The answer or the refusal of one call.
 *
 * @param rpc e.g. `Payouts/Get`
 */
export type RpcCall = <Answer extends object = object>(
  rpc: string,
  request?: object,
  metadata?: ReturnType<typeof bearer>,
) => Promise<Answer & Partial<RpcRefusal>>

const RPCS = new Map(PROCESSOR_RPCS.map((rpc) => [nameOf(rpc), rpc]))

/** Calls to a processor, with this token where a test gives no metadata. */
export function callsTo(t: Pick<Test, 'teardown'>, address: string, token: string): RpcCall {
  const { call, close } = openCalls(address, token)
  t.teardown(close)
  return call
}

/** As `callsTo`, for a caller that closes it. @param withinMs the deadline of each call */
export function openCalls(address: string, token: string, withinMs = Infinity) {
  const client = new Client(address, credentials.createInsecure())
  const call: RpcCall = <Answer extends object>(
    rpc: string,
    request = {},
    metadata = bearer(token),
  ) => {
    const { path, requestSerialize, responseDeserialize } = RPCS.get(rpc)!
    const wire = [path, requestSerialize, responseDeserialize] as const
    return new Promise<Answer & Partial<RpcRefusal>>((resolve) => {
      const options = { deadline: Date.now() + withinMs }
      client.makeUnaryRequest(...wire, request, metadata, options, (error, answer) => {
        resolve((error === null ? answer : refusedBy(error)) as Answer & Partial<RpcRefusal>)
      })
    })
  }
  return { call, close: () => client.close() }
}

/** The answer of a call. @throws when it is refused */
export async function acceptedAnswer<Answer extends object>(
  answer: Promise<Answer & Partial<RpcRefusal>>,
): Promise<Answer> {
  const given = await answer
  if (given.code !== undefined) throw new Error(`${given.status}: ${given.details}`)
  return given
}

const refusedBy = ({ code, details, metadata }: ServiceError): RpcRefusal => ({
  status: status[code],
  code: metadata.get('causeway-error').join(),
  details,
})
