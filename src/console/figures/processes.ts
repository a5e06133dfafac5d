/** The processes of the last reading of the metrics. */
import { SECOND } from '../../base/clock.js'
import type { FamilyName, ProcessValues } from './metrics_text.js'

export interface ProcessState {
  /** Where its metrics are: `host:port`. */
  readonly opsPort: string
  readonly name: string
  /** Undefined means that it has no supervisor, like the supervisor itself, and has answered. */
  readonly isReady: boolean | undefined
  readonly pid: number | undefined
  readonly restarts: number | undefined
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined
  /** The version of one of our programs. */
  readonly version: string | undefined
  /** The version of a program of others. */
  readonly serverVersion: string | undefined
  readonly residentBytes: number | undefined
}

export function processesOn(
  opsPort: string,
  processes: ReadonlyMap<string, ProcessValues>,
): readonly ProcessState[] {
  return [...processes].map(([name, values]) => {
    const value = (family: FamilyName): number | undefined => values.get(family)?.get('')
    const up = value('causeway_process_up')
    const started =
      value('causeway_process_start_time_seconds') ?? value('causeway_server_start_time_seconds')
    return {
      ...{ opsPort, name },
      isReady: up === undefined ? undefined : up === 1,
      pid: value('causeway_process_pid'),
      restarts: value('causeway_process_restarts_total'),
      startedAt: started === undefined ? undefined : started * SECOND,
      version: values.get('causeway_build_info')?.keys().next().value,
      serverVersion: values.get('causeway_server_info')?.keys().next().value,
      residentBytes: value('causeway_process_resident_memory_bytes'),
    }
  })
}
