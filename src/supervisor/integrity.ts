/**
 * Background integrity check of the databases after each start (integrity_main).
 *
 * - It delays nothing, and a failure stops nothing: it is logged, printed and exported as a metric.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Logger } from '../base/log.js'
import { projectRoot } from '../base/project_root.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX } from '../base/subjects.js'
import type { CheckedFile } from './integrity_main.js'

export type IntegrityState = 'pending' | 'ok' | 'failed'

export interface Integrity {
  readonly state: IntegrityState
  start(): void
  stop(): void
}

export interface IntegrityOptions {
  readonly folder: string
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Shows a line on the terminal. */
  readonly report: (line: string) => void
}

const MAIN = join(projectRoot(), '.build/src/supervisor/integrity_main.js')

export function createIntegrity({ folder, log, report }: IntegrityOptions): Integrity {
  let state: IntegrityState = 'pending'
  let child: ChildProcess | undefined

  const fail = (what: string, problems: readonly string[]): void => {
    state = 'failed'
    log.error({ database: what, problems }, 'integrity check failed')
    report(`INTEGRITY CHECK FAILED: ${what}: ${problems[0] ?? ''} (restore a backup)`)
  }

  const start = (): void => {
    const files = databasesIn(folder)
    let missing = files.length
    const running = fork(MAIN, files, { env: {}, stdio: 'ignore', serialization: 'json' })
    child = running
    running.on('message', (message) => {
      const { file, problems } = message as CheckedFile
      missing -= 1
      if (problems.length > 0) return fail(basename(file), problems)
      log.info({ database: basename(file) }, 'integrity check passed')
    })
    const end = (): void => {
      if (child !== running) return
      child = undefined
      if (missing > 0) fail('not all databases', ['the check ended early'])
      else if (state === 'pending') state = 'ok'
    }
    running.on('disconnect', end) // unlike `exit`, follows the last message
    running.on('error', end)
  }

  return {
    get state() {
      return state
    },
    start,
    stop: () => {
      const running = child
      child = undefined
      running?.kill('SIGKILL')
    },
  }
}

const databasesIn = (folder: string): readonly string[] =>
  [
    FILES.processorDatabase,
    FILES.railDatabase,
    FILES.railRecord,
    ...Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) => webhookDatabase(index + 1)),
  ]
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
