/**
 * The newest timeline of the PostgreSQL server that the processes of a data directory have used, in
 * a small file.
 *
 * Does not own: the comparison (postgres/connection).
 *
 * - Each promotion of a standby begins a timeline, so a server of an older one is a former primary.
 *   It still answers reads, and without a standby also writes, which are lost.
 * - Another server, with another system identifier, is not compared. Neither is any server when an
 *   operator starts a recovery.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withFileName } from '../../base/disk_full.js'
import type { Timeline } from './connection.js'

export interface Timelines {
  /** Undefined means that any server may be used. */
  known(): Timeline | undefined
  /** Called with each primary that this process connects to. */
  used(server: Timeline): void
}

export const NO_TIMELINES: Timelines = { known: () => undefined, used: () => undefined }

/** @param isIgnored a server of an older timeline is used too, and replaces it */
export function timelinesIn(file: string, isIgnored: boolean): Timelines {
  const path = resolve(file)
  let newest = isIgnored ? undefined : readTimeline(path)
  return {
    known: () => newest,
    used: ({ system, timeline }) => {
      if (newest?.system === system && newest.timeline >= timeline) return
      newest = { system, timeline }
      try {
        writeFileSync(`${path}.new`, `${JSON.stringify(newest)}\n`, { mode: 0o600, flush: true })
        renameSync(`${path}.new`, path)
      } catch (error) {
        throw withFileName(error, path)
      }
    },
  }
}

/** Undefined when there is no such file, or it is not whole. */
function readTimeline(path: string): Timeline | undefined {
  try {
    const { system, timeline } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Timeline>
    const isWhole = typeof system === 'string' && Number.isSafeInteger(timeline)
    return isWhole ? { system, timeline: Number(timeline) } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as { code?: string }).code === 'ENOENT') return
    throw error
  }
}
