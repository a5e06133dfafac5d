/** Runs the operator CLI against a stack under test. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'

export interface Ended {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

export interface OperatorCli {
  (...words: string[]): Promise<Ended>
  /** With `--json`; throws its output on a non-zero exit. */
  json(...words: string[]): Promise<Record<string, unknown>>
}

export function operatorCli(dataDir: string): OperatorCli {
  const main = join(projectRoot(), '.build/src/operations/main.js')
  const ops = (...words: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { ...process.env, DATA_DIR: dataDir }
      execFile(process.execPath, [main, ...words], { env }, (error, out, err) => {
        const exitCode = error === null ? 0 : Number(error.code)
        resolve({ exitCode, out, err })
      })
    })
  const json = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, out, err } = await ops(...words, '--json')
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${err}`)
    return JSON.parse(out) as Record<string, unknown>
  }
  return Object.assign(ops, { json })
}
