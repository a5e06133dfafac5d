/** The version of a server of others, as its own `--version` says: `2.9.10`, `15.14`. */
import { execFileSync } from 'node:child_process'

const WITHIN_MS = 2_000
const known = new Map<string, string>()

/** Empty when it does not say. */
export function serverVersion(binary: string): string {
  let version = known.get(binary)
  if (version === undefined) known.set(binary, (version = ask(binary)))
  return version
}

function ask(binary: string): string {
  try {
    const text = execFileSync(binary, ['--version'], {
      ...{ cwd: '/', encoding: 'utf8', timeout: WITHIN_MS },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /\d+(?:\.\d+)+[\w.-]*/.exec(text)?.[0] ?? ''
  } catch {
    return ''
  }
}
