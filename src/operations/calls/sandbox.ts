/** Reads `sandbox.json` of a running stack (written by supervisor/sandbox_file). */
import { existsSync } from 'node:fs'
import { readSecretFile } from '../../files/secret_file.js'
import { dataFile } from '../../settings/settings.js'
import { readSettings } from '../../settings/settings_reader.js'
import { FILES } from '../../base/subjects.js'
import type { Credentials } from '../../client/index.js'
import type { Sandbox } from '../../supervisor/sandbox_file.js'

export type { Sandbox }

export const readSandbox = (file: string): Sandbox => JSON.parse(readSecretFile(file)) as Sandbox

/** The file of the stack in DATA_DIR. Undefined if none has run there. */
export function findSandbox(settings = readSettings()): Sandbox | undefined {
  const file = dataFile(settings, FILES.sandbox)
  return existsSync(file) ? readSandbox(file) : undefined
}

/** Credentials of the demo partner. */
export const credentialsOf = (sandbox: Sandbox, brand: string): Credentials => ({
  baseUrl: sandbox.base_url,
  host: sandbox.host,
  keyId: sandbox.key_id,
  secret: sandbox.signing_secret,
  brand,
})

/** Whether every process of the stack is ready. */
export async function isServing({ ops_url }: Sandbox): Promise<boolean> {
  try {
    const answer = await fetch(`${ops_url}/readyz`, { signal: AbortSignal.timeout(2_000) })
    return answer.ok
  } catch {
    return false
  }
}
