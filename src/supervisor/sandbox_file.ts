/**
 * `sandbox.json` under DATA_DIR: addresses and demo credentials for clients of this stack.
 *
 * - Mode 0600, replaced atomically before the stack prints `ready:`.
 */
import { status, type ServiceError } from '@grpc/grpc-js'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import type { DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../grpc/bearer.js'
import type { GrpcTls } from '../grpc/tls.js'
import { contracts } from '../grpc/contracts.js'
import { writeSecretFile } from '../files/secret_file.js'
import { StartupError } from './startup_error.js'

const TIMEOUT_MS = 30 * SECOND
const ATTEMPTS_MAX = 240
const RETRY_INTERVAL_MS = SECOND / 4

export interface Sandbox {
  readonly base_url: string
  /** The Host header to send. */
  readonly host: string
  readonly grpc_address: string
  /** The token of an internal service, which may call partner operations only. */
  readonly internal_token: string
  readonly ops_url: string
  /** The address of the operators' console. Absent if there is none. */
  readonly console_url?: string
  /** The brand in the names of the signature headers. */
  readonly brand: string
  /** Whether the stack has production hosts. */
  readonly serves_production: boolean
  readonly environment: 'sandbox'
  readonly partner_id: string
  readonly key_id: string
  readonly signing_secret: string
}

export type Addresses = Pick<
  Sandbox,
  | 'base_url'
  | 'host'
  | 'grpc_address'
  | 'internal_token'
  | 'ops_url'
  | 'console_url'
  | 'brand'
  | 'serves_production'
>

/** How the supervisor calls processors. */
export interface ProcessorAccess {
  /** Those that serve now. In a cluster one of them has the demo partner. */
  readonly addresses: () => readonly string[]
  readonly token: string
  readonly tls: GrpcTls
}

export function writeSandboxFile(
  file: string,
  addresses: Addresses,
  demo: DemoCredentials,
): Sandbox {
  const sandbox: Sandbox = {
    ...addresses,
    environment: 'sandbox',
    partner_id: demo.partner_id ?? '',
    key_id: demo.key_id ?? '',
    signing_secret: demo.signing_secret ?? '',
  }
  writeSecretFile(file, `${JSON.stringify(sandbox, null, 2)}\n`)
  return sandbox
}

/**
 * Creates the demo partner, if there is none. It is called before gateways start, which then know
 * its key from the beginning.
 *
 * Retries: a processor that begins recovery mode restarts, one of a cluster can wait for its shard.
 */
export async function ensureDemo(
  processors: ProcessorAccess,
  clock: Clock,
): Promise<DemoCredentials> {
  let why = 'no processor serves'
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    for (const address of processors.addresses()) {
      const reply = await callEnsureDemo(address, processors, clock.now() + TIMEOUT_MS)
      if (!(reply instanceof Error)) return reply
      why = reply.details
      if (!MOVES_ON.has(reply.code)) throw new StartupError(`${CANNOT_BE_CREATED}: ${why}`)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS))
  }
  throw new StartupError(`${CANNOT_BE_CREATED}: ${why}`)
}

const CANNOT_BE_CREATED = 'The demo partner cannot be created'
/** It restarts, waits for a shard, or names the owner of another shard. */
const MOVES_ON: ReadonlySet<status> = new Set([
  ...[status.UNAVAILABLE, status.UNIMPLEMENTED, status.FAILED_PRECONDITION],
])

function callEnsureDemo(
  address: string,
  { token, tls }: ProcessorAccess,
  deadline: number,
): Promise<DemoCredentials | ServiceError> {
  const { Operator } = contracts<ProtoGrpcType>('causeway/operator/v1/operator.proto').causeway
    .operator.v1
  const operator = new Operator(
    address,
    tls.channelCredentials(address),
    tls.channelOptions(address),
  )
  return new Promise((resolve) => {
    operator.EnsureDemo({}, bearer(token), { deadline }, (error, demo) => {
      operator.close()
      resolve(demo ?? error!)
    })
  })
}
