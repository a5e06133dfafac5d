/**
 * A frozen DATA_DIR: an archive, and the responses of the revision that made it.
 *
 * Owns: the format of the expectations, packing and unpacking. Does not own: the content (freeze),
 * the comparison with a later revision (golden.test).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

export interface Caller {
  readonly keyId: string
  readonly secret: string
  readonly production: boolean
}

/** A call whose repetition must return the same bytes. */
export interface Replay {
  readonly caller: string
  readonly path: string
  readonly key: string
  readonly body: unknown
  /** The status of a payout: 200, as for every replay. */
  readonly status: number
  readonly text: string
}

/** A payment or payout that was open when the stack was stopped. */
export interface OpenEntity {
  readonly caller: string
  readonly what: string
  readonly path: string
  readonly was: string
  readonly becomes: string
  /** Final number of executions in the rail's journal. */
  readonly executions: number
}

export interface Endpoint {
  readonly id: string
  readonly what: string
  /** By key id; any of them may sign. */
  readonly secrets: Readonly<Record<string, string>>
}

export interface Frozen {
  readonly revision: string
  readonly frozenAt: string
  readonly callers: Readonly<Record<string, Caller>>
  /** GET of a final entity. */
  readonly reads: readonly { caller: string; path: string; body: unknown }[]
  /** Rows that a list must still contain, newest first. */
  readonly lists: readonly { caller: string; path: string; rows: readonly Listed[] }[]
  readonly replays: readonly Replay[]
  /** Signed GET /v1/balances by a key that is revoked, suspended or good. */
  readonly keys: readonly { caller: string; status: number }[]
  readonly open: readonly OpenEntity[]
  /** The endpoints of the partner `demo`, in the sandbox. */
  readonly endpoints: readonly Endpoint[]
  /** The number of the last event of the partner `demo` when the stack was stopped. */
  readonly lastEvent: number
  readonly discrepancies: { readonly open: readonly string[]; readonly resolved: readonly string[] }
}

export type Listed = Readonly<Record<string, unknown>>

/** Files of a DATA_DIR that are not state: process ids, locks and logs of one run. */
const OF_ONE_RUN = ['logs', 'run', 'run.json', '*.lock*', '*-shm', 'sandbox.json', 'nats.conf']

export const goldenFolder = (): string => join(projectRoot(), 'test/golden')
const archiveOf = (folder: string, name: string): string => join(folder, `${name}.tar.gz`)
const answersOf = (folder: string, name: string): string => join(folder, `${name}.json`)

/** Names of all frozen revisions. */
export const frozenNames = (): string[] =>
  readdirSync(goldenFolder())
    .filter((file) => file.endsWith('.tar.gz'))
    .map((file) => file.slice(0, -'.tar.gz'.length))
    .sort()

export const readFrozen = (name: string): Frozen =>
  JSON.parse(readFileSync(answersOf(goldenFolder(), name), 'utf8')) as Frozen

export function pack(dataDir: string, folder: string, name: string, frozen: Frozen): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(answersOf(folder, name), `${JSON.stringify(frozen, null, 1)}\n`)
  const left = OF_ONE_RUN.map((pattern) => `--exclude=./${pattern}`)
  const owner = ['--owner=0', '--group=0', '--sort=name']
  execFileSync('tar', ['-C', dataDir, ...left, ...owner, '-czf', archiveOf(folder, name), '.'])
}

/** Into a folder that is made for it. */
export function unpack(name: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = archiveOf(goldenFolder(), name)
  execFileSync('tar', ['-C', dataDir, '--no-same-owner', '-xzpf', file])
}
