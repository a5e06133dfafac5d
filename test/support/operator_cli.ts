/** The operator CLI against a stack, run in the process of the test. */
import { Writable } from 'node:stream'
import { readSettings } from '../../src/settings/settings_reader.js'
import { runOperatorCli } from '../../src/operations/operator_cli.js'
import type { CliResult } from './program.js'

export interface OperatorCli {
  /** @param words the first is split at its spaces: `ops('payout show', id)` */
  (...words: string[]): Promise<CliResult>
  /** With `--json`. @throws with its error output when the exit code is not 0 */
  json(...words: string[]): Promise<Record<string, unknown>>
  /** Its output. @throws with its error output when the exit code is not 0 */
  out(...words: string[]): Promise<string>
}

/** What `match` compares a result with: it is done, and prints this. */
export const printed = (out: string | RegExp) => ({ exitCode: 0, out })
/** The service refuses it. */
export const refused = (err: string | RegExp) => ({ exitCode: 1, err })
/** It is not sent: the words or files given are wrong. */
export const usageError = (err: string | RegExp) => ({ exitCode: 2, err })

/** @param tokenFile default: that of the first operator */
export function operatorCli(
  dataDir: string,
  tokenFile = '',
  more: Readonly<Record<string, string>> = {},
): OperatorCli {
  const given = { DATA_DIR: dataDir, OPERATOR_TOKEN_FILE: tokenFile, ...more }
  const settings = () => readSettings({ ...process.env, ...given })
  const ops = async (...[line = '', ...words]: string[]): Promise<CliResult> => {
    const [out, err] = [collector(), collector()]
    const paint = (_style: unknown, text: string): string => text
    const exitCode = await runOperatorCli([...line.split(' '), ...words], settings, {
      ...{ paint, out: out.stream, err: err.stream },
    })
    return { exitCode, out: out.text(), err: err.text() }
  }
  const out = async (...words: string[]): Promise<string> => {
    const result = await ops(...words)
    if (result.exitCode !== 0) throw new Error(`${words.join(' ')}: ${result.err}`)
    return result.out
  }
  const json = async (...words: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await out(...words, '--json')) as Record<string, unknown>
  return Object.assign(ops, { json, out })
}

function collector(): { readonly stream: Writable; text(): string } {
  const parts: Buffer[] = []
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(parts).toString() }
}
