/** The running stack of DATA_DIR: what its `/readyz` reports, and the limits of its processes. */
import { readFileSync } from 'node:fs'
import { SECOND } from '../../base/clock.js'
import { dataFile, type Settings } from '../../settings/settings.js'
import type { Finding } from './production_check.js'
import { findSandbox } from '../calls/sandbox.js'
import { checked, UNUSED, type Area, type Seen } from './area.js'

const ANSWER_WITHIN_MS = 2 * SECOND
/** Connections of partners, and the files of the databases. The units of systemd set 65,536. */
const OPEN_FILES_MIN = 16_384

export const runningStack: Area = {
  name: 'stack',
  look: async (settings): Promise<Seen> => {
    const sandbox = findSandbox(settings)
    if (sandbox === undefined) return UNUSED
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
      const answer = await fetch(`${sandbox.ops_url}/readyz`, { signal })
      const state = (await answer.json()) as StackState
      return checked([...stateFindings(state), ...openFilesFindings(settings)])
    } catch {
      const reason = 'the stack of DATA_DIR does not run: /readyz of each process shows the same'
      return { kind: 'unknown', reason }
    }
  },
}

/** A part of `/readyz`. */
export interface StackState {
  readonly mode: string
  readonly processes: Readonly<Record<string, boolean>>
  readonly integrity: string
  readonly reasons?: Readonly<Record<string, string>>
  readonly degraded?: Readonly<Record<string, string>>
}

export function stateFindings(state: StackState): readonly Finding[] {
  const { mode, processes, integrity, reasons = {}, degraded = {} } = state
  const waiting = Object.entries(processes).filter(([, isReady]) => !isReady)
  return [
    ...waiting.map(([name]) => ({
      finding: `${name} is not ready`,
      why: 'what needs it is refused or waits',
      remedy: `see logs/${name}.log`,
    })),
    ...(mode === 'normal' ? [] : [modeFinding(mode, Object.values(reasons).join('; '))]),
    ...Object.entries(degraded).map(([name, fault]) => ({
      finding: `${name} is degraded: ${fault}`,
      why: 'a part of it does not work as it should',
      remedy: `see logs/${name}.log, and "Health and metrics" of the guide`,
    })),
    ...(integrity === 'failed' ? [DAMAGED] : []),
  ]
}

const modeFinding = (mode: string, reason: string): Finding => ({
  finding: reason === '' ? `the processor is in the mode ${mode}` : reason,
  why: 'payments are refused, or wait',
  remedy: 'see "Books that are behind" and "Restoring an older copy" of the guide',
})

const DAMAGED: Finding = {
  finding: 'the integrity check of a database has failed',
  why: 'a damaged page spreads to what is computed from it, and to every backup',
  remedy: 'stop, keep a copy of DATA_DIR, restore the newest backup with a clean audit',
}

const OPEN_FILES = /^Max open files +([0-9]+) /m

/** Processes of this machine that may open too few files. Those that cannot be read are omitted. */
export function openFilesFindings(settings: Settings): readonly Finding[] {
  const text = readFileSync(dataFile(settings, 'run.json'), 'utf8')
  const { processes } = JSON.parse(text) as RunFile
  const few = Object.entries(processes).flatMap(([name, { pid }]) => {
    const limit = openFilesOf(pid)
    return limit < OPEN_FILES_MIN ? [`${name} ${limit}`] : []
  })
  if (few.length === 0) return []
  return [
    {
      finding: `processes that may open few files: ${few.join(', ')}`,
      why: 'connections of partners are refused at the limit',
      remedy: 'LimitNOFILE=65536 in the unit, or ulimit -n 65536 before make run',
    },
  ]
}

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

function openFilesOf(pid: number): number {
  try {
    const [, limit] = OPEN_FILES.exec(readFileSync(`/proc/${pid}/limits`, 'latin1')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
