/** A client of `grpc.health.v1`, without a credential. */
import type { status } from '@grpc/grpc-js'
import {
  loadPackageDefinition,
  type ClientReadableStream,
  type GrpcObject,
  type ServiceClientConstructor,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { protoPath } from 'grpc-health-check'
import { CLEARTEXT } from '../../src/grpc/tls.js'

interface Answer {
  readonly status: string
}
type Done = (fault: { readonly code: status } | null, answer?: Answer) => void
export interface HealthClient {
  check(request: { service: string }, done: Done): void
  watch(request: { service: string }): ClientReadableStream<Answer>
  close(): void
}

export function connectHealth(address: string, tls = CLEARTEXT): HealthClient {
  const loaded = loadPackageDefinition(loadSync(protoPath, { enums: String, defaults: true }))
  const { Health } = ((loaded['grpc'] as GrpcObject)['health'] as GrpcObject)['v1'] as GrpcObject
  const Client = Health as ServiceClientConstructor
  return new Client(address, tls.channelCredentials(address)) as unknown as HealthClient
}

/** The statuses that a watch received, and the codes of its end. */
export function watchHealth(client: HealthClient, service: string) {
  const seen: string[] = []
  const ends: status[] = []
  const stream = client.watch({ service })
  stream.on('data', (answer: Answer) => seen.push(answer.status))
  stream.on('error', () => undefined)
  stream.on('status', ({ code }: { code: status }) => ends.push(code))
  return { seen, ends, stream }
}

/** The status, or the code of the refusal. */
export const checkHealth = (client: HealthClient, service: string): Promise<string | status> =>
  new Promise((resolve) => {
    client.check({ service }, (fault, answer) => resolve(answer?.status ?? fault?.code ?? 0))
  })
