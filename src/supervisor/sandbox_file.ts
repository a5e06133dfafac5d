/**
 * `sandbox.json` under DATA_DIR: all that a client needs to talk to this stack.
 *
 * Owns: the demo partner's credentials on their way from the processor to the file. Does not own:
 * the partner itself.
 *
 * - The file is 0600 and is replaced as a whole, before the stack says that it is ready.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import type { DemoCredentials } from '../../protos/types/causeway/v1/DemoCredentials.js'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../base/internal_token.js'
import { contracts } from '../base/protos.js'
import { StartupError } from './startup_error.js'

const ANSWER_WITHIN_MS = 30 * SECOND
const ASK_AGAIN_MS = SECOND / 4

export interface Sandbox {
  readonly base_url: string
  /** The host name to send when it is not the one of `base_url`. */
  readonly host: string
  readonly grpc_address: string
  readonly internal_token: string
  readonly ops_url: string
  /** The word in the names of the signature headers. */
  readonly brand: string
  /** Real money is among what operators change here. */
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
  | 'brand'
  | 'serves_production'
>

export async function writeSandboxFile(
  file: string,
  addresses: Addresses,
  clock: Clock,
): Promise<Sandbox> {
  const demo = await ensureDemo(addresses, clock)
  const sandbox: Sandbox = {
    ...addresses,
    environment: 'sandbox',
    partner_id: demo.partner_id ?? '',
    key_id: demo.key_id ?? '',
    signing_secret: demo.signing_secret ?? '',
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(sandbox, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return sandbox
}

/** A processor that begins recovery mode starts anew, so it may be away for a moment. */
async function ensureDemo(addresses: Addresses, clock: Clock): Promise<DemoCredentials> {
  const deadline = clock.now() + ANSWER_WITHIN_MS
  for (;;) {
    const answered = await askForDemo(addresses, deadline)
    if (!(answered instanceof Error)) return answered
    if (answered.code !== status.UNAVAILABLE || clock.now() >= deadline) {
      throw new StartupError(`The demo partner cannot be made: ${answered.details}`)
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

function askForDemo(
  addresses: Addresses,
  deadline: number,
): Promise<DemoCredentials | ServiceError> {
  const { Operator } = contracts<ProtoGrpcType>().causeway.v1
  const operator = new Operator(addresses.grpc_address, credentials.createInsecure())
  return new Promise((resolve) => {
    operator.EnsureDemo({}, bearer(addresses.internal_token), { deadline }, (error, demo) => {
      operator.close()
      resolve(demo ?? error!)
    })
  })
}
