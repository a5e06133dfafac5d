/**
 * The sandbox rail connected to a test world directly: its real cycle and journal, without gRPC.
 *
 * The rail has no delay; work that it schedules for later stays scheduled.
 */
import { systemRandom } from '../../src/base/random.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { RailReport } from '../../src/rails/rail.js'
import { createCycle } from '../../src/rails/adapter/cycle.js'
import { sandboxRules } from '../../src/rails/sandbox/bank.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { SILENT_LOG } from './logs.js'
import type { World } from './world.js'

export interface SandboxRail {
  /** Passes instructions and reports on until none is left. Concurrent calls take turns. */
  settle(): Promise<void>
  close(): Promise<void>
}

export async function openSandboxRail(world: World, file: string): Promise<SandboxRail> {
  const random = systemRandom()
  const journal = await openJournal(file, random)
  const reports: RailReport[] = []
  const receive = (sent: readonly RailReport[]): void => void reports.push(...sent)
  const cycle = createCycle({
    journal,
    clock: world.clock,
    random,
    log: SILENT_LOG,
    rules: sandboxRules(0),
    publish: receive,
    fail: (error) => {
      throw error
    },
  })
  await cycle.start()

  const pass = async (): Promise<void> => {
    for (;;) {
      const sent = world.railInstructions.splice(0)
      await cycle.submit(sent, receive) // it also waits for steps that are due
      if (sent.length + reports.length === 0) return
      await world.runAll(reports.splice(0).map((report) => applyRailReport(report, 0)))
    }
  }
  let last = Promise.resolve()
  return {
    settle: () => (last = last.then(pass)),
    close: async () => {
      await cycle.stop()
      await journal.close()
    },
  }
}
