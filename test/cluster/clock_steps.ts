/** Steps of the clocks of processors, while they run. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../src/base/project_root.js'

export interface ClockSteps {
  /** For `NODE_OPTIONS` of the processors. */
  readonly nodeOptions: string
  /** The clock of a processor differs by this, also after its restart. */
  step(processor: string, byMs: number): void
  restore(processor: string): void
}

/** @param folder for the differences */
export function prepareClockSteps(folder: string): ClockSteps {
  mkdirSync(folder, { recursive: true })
  const hook = pathToFileURL(join(projectRoot(), '.build/test/cluster/clock_hook.js'))
  hook.searchParams.set('folder', folder)
  return {
    nodeOptions: `--import=${hook.href}`,
    step: (processor, byMs) => {
      const file = join(folder, processor)
      writeFileSync(`${file}.new`, String(byMs))
      renameSync(`${file}.new`, file)
    },
    restore: (processor) => rmSync(join(folder, processor), { force: true }),
  }
}
