/** Calls of any rpc of the loaded contracts, and their authorization by the server. */
import {
  status,
  type Client,
  type ClientReadableStream,
  type Metadata,
  type MethodDefinition,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { contracts } from '../../src/grpc/contracts.js'

export interface Package {
  readonly [name: string]: { readonly service?: ServiceDefinition } | undefined
}
export type Rpc = MethodDefinition<object, object>

type Versions = Readonly<
  Record<'internal' | 'operator' | 'rail' | 'screening', { readonly v1: Package }>
>

const { v1, internal, operator, rail, screening } = contracts<{
  readonly causeway: Versions & { readonly v1: Package }
}>().causeway

const rpcsOf = (inside: Package): Rpc[] =>
  Object.values(inside).flatMap((found) =>
    found?.service === undefined ? [] : (Object.values(found.service) as Rpc[]),
  )

export const PROCESSOR_RPCS = [v1, internal.v1, operator.v1].flatMap(rpcsOf)
export const RAIL_RPCS = rpcsOf(rail.v1)
export const SCREENING_RPCS = rpcsOf(screening.v1)

/** `Service/Rpc`. */
export const nameOf = ({ path }: Rpc): string => path.replace(/^.*\.v1\./, '')

/** `granted` when a handler got the call, else the refusal. @throws when nothing listens */
export function authorizationOf(client: Client, rpc: Rpc, metadata: Metadata): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = rpc
  const wire = [path, requestSerialize, responseDeserialize] as const
  return new Promise((resolve, reject) => {
    const told = (code: number | undefined, details = ''): void => {
      if (details.startsWith('No connection')) return reject(new Error(details))
      if (code === status.UNAUTHENTICATED) return resolve('unauthenticated')
      resolve(code === status.PERMISSION_DENIED ? 'denied' : 'granted')
    }
    if (!rpc.requestStream && !rpc.responseStream) {
      client.makeUnaryRequest(...wire, {}, metadata, (error) => told(error?.code, error?.details))
      return
    }
    const onEnd = (stream: ClientReadableStream<object>): void => {
      stream.on('error', () => undefined)
      stream.on('data', () => told(undefined))
      stream.on('status', ({ code, details }: { code: number; details: string }) => {
        told(code, details)
      })
    }
    if (rpc.requestStream) {
      const stream = client.makeBidiStreamRequest(...wire, metadata)
      onEnd(stream)
      stream.end()
    } else onEnd(client.makeServerStreamRequest(...wire, {}, metadata))
  })
}
