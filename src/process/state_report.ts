/**
 * What a process that serves tells its supervisor: when it has changed, at most a second later.
 *
 * - A change is not reported where it happens: rails, the bus and standbys are lost in many places.
 */
import { SECOND } from '../base/clock.js'
import type { ChildProcess, ReadyInfo } from './child.js'

const LOOK_EVERY_MS = SECOND

export interface StateReport {
  /** Reports at once what has changed. */
  look(): void
  stop(): void
}

/** Begins with what the process reported when it was ready. The timer keeps no process alive. */
export function reportChanges(
  child: Pick<ChildProcess, 'update'>,
  stateNow: () => ReadyInfo,
  everyMs = LOOK_EVERY_MS,
): StateReport {
  let told = JSON.stringify(stateNow())
  const look = (): void => {
    const state = stateNow()
    const text = JSON.stringify(state)
    if (text === told) return
    told = text
    child.update(state)
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  return { look, stop: () => clearInterval(timer) }
}

/** As a member of what is reported; absent when everything works. */
export const degradedBy = (faults: readonly string[]): { readonly degraded?: string } =>
  faults.length === 0 ? {} : { degraded: faults.join('; ') }
