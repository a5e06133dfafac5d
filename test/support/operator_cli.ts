/** The operator CLI against a stack, run in the process of the test. */
import { Writable } from 'node:stream'
import { readSettings } from '../../src/base/settings_reader.js'
import { runOperatorCli } from '../../src/operations/operator_cli.js'
import type { CliResult } from './program.js'

export interface OperatorCli {
  (...words: string[]): Promise<CliResult>
  /** With `--json`. @throws with its error output when the exit code is not 0 */
  json(...words: string[]): Promise<Record<string, unknown>>
}

/** @param tokenFile default: that of the first operator */
export function operatorCli(
  dataDir: string,
  tokenFile = '',
  more: Readonly<Record<string, string>> = {},
): OperatorCli {
  const given = { DATA_DIR: dataDir, OPERATOR_TOKEN_FILE: tokenFile, ...more }
  const settings = () => readSettings({ ...process.env, ...given })
  const ops = async (...words: string[]): Promise<CliResult> => {
    const [out, err] = [collector(), collector()]
    const paint = (_style: unknown, text: string): string => text
    const exitCode = await runOperatorCli(words, settings, {
      ...{ paint, out: out.stream, err: err.stream },
    })
    return { exitCode, out: out.text(), err: err.text() }
  }
  const json = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, out, err } = await ops(...words, '--json')
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${err}`)
    return JSON.parse(out) as Record<string, unknown>
  }
  return Object.assign(ops, { json })
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
