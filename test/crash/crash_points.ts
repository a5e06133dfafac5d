/** The crash points of the code, and how a test ends a process at one of them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../src/base/project_root.js'
import type { StackProcess } from '../support/supervised_stack.js'

/** Points that a stack under load reaches by itself, with the process that ends there. */
export const LOAD_POINTS: Readonly<Record<string, StackProcess>> = {
  'commit.decided': 'processor',
  'commit.stored': 'processor',
  'commit.answered': 'processor',
  'submit.sent': 'processor',
  'rail_report.received': 'processor',
  'relay.publishing': 'processor',
  'relay.published': 'processor',
  'high_water.written': 'processor',
  'timer.due': 'processor',
  'rail.decided': 'rail',
  'rail.recorded': 'rail',
  'delivery.received': 'webhooks',
  'delivery.stored': 'webhooks',
  'delivery.sending': 'webhooks',
  'delivery.answered': 'webhooks',
  'delivery.recorded': 'webhooks',
  'delivery.reported': 'webhooks',
}

/** Reached when a second operator approves. */
export const APPROVAL_POINTS = ['approval.decided'] as const

/** Reached by a backup of SQLite. */
export const BACKUP_POINTS = [
  ...['backup.snapshots_taken', 'backup.copied', 'backup.written', 'backup.finished'],
] as const

/** Reached in a cluster (test/cluster/faults). */
export const CLUSTER_POINTS = [
  ...['placement.placed', 'move.withdrawn', 'move.drained', 'move.released'],
  ...['partner_move.held', 'partner_move.ending', 'partner_move.moved'],
  ...['partner_copy.step', 'partner_copy.ready', 'partner_copy.put_back'],
  ...['partner_copy.settled', 'partner_copy.undone'],
  ...['take_over.taken', 'take_over.loaded', 'take_over.announced'],
] as const

const POINT = /\bcrashPoint\('([^']+)'\)/g

/** Names of the points in the sources of the service, sorted. */
export function pointsInCode(): readonly string[] {
  const found = ['src', 'actors', 'gateway'].flatMap((folder) =>
    sourcesIn(join(projectRoot(), folder)).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(POINT)].map(([, name = '']) => name),
    ),
  )
  return [...new Set(found)].sort()
}

export const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))

export interface CrashPoints {
  /** For `NODE_OPTIONS` of the processes that end at points. */
  readonly nodeOptions: string
  /** The process that next passes the point `after` more times ends there. */
  arm(point: string, after?: number): void
  disarm(point: string): void
  /** Whether a process has ended there since. */
  isReached(point: string): boolean
}

/** @param folder for the files of armed points */
export function prepareCrashPoints(folder: string): CrashPoints {
  mkdirSync(folder, { recursive: true })
  const hook = pathToFileURL(join(projectRoot(), '.build/test/crash/crash_hook.js'))
  hook.searchParams.set('folder', folder)
  return {
    nodeOptions: `--import=${hook.href}`,
    arm: (point, after = 0) => writeFileSync(join(folder, point), String(after)),
    disarm: (point) => rmSync(join(folder, point), { force: true }),
    isReached: (point) => !existsSync(join(folder, point)),
  }
}
