/**
 * What a client of a running stack knows: the contents of its `sandbox.json`.
 *
 * Owns: finding and reading the file. Does not own: writing it (supervisor).
 */
import { existsSync, readFileSync } from 'node:fs'
import { dataFile, readSettings } from '../base/settings.js'
import { FILES } from '../base/subjects.js'
import type { Credentials } from '../client/index.js'

export interface Sandbox {
  readonly base_url: string
  readonly host: string
  readonly grpc_address: string
  readonly internal_token: string
  readonly ops_url: string
  readonly brand: string
  readonly serves_production: boolean
  readonly environment: string
  readonly partner_id: string
  readonly key_id: string
  readonly signing_secret: string
}

export const readSandbox = (file: string): Sandbox =>
  JSON.parse(readFileSync(file, 'utf8')) as Sandbox

/** Of the stack whose DATA_DIR the environment names; undefined when none was started there. */
export function findSandbox(): Sandbox | undefined {
  const file = dataFile(readSettings(), FILES.sandbox)
  return existsSync(file) ? readSandbox(file) : undefined
}

/** Of its demo partner. */
export const credentialsOf = (sandbox: Sandbox, brand: string): Credentials => ({
  baseUrl: sandbox.base_url,
  host: sandbox.host,
  keyId: sandbox.key_id,
  secret: sandbox.signing_secret,
  brand,
})

/** True when all processes of that stack serve now. */
export async function isServing({ ops_url }: Sandbox): Promise<boolean> {
  try {
    const answer = await fetch(`${ops_url}/readyz`, { signal: AbortSignal.timeout(2_000) })
    return answer.ok
  } catch {
    return false
  }
}
