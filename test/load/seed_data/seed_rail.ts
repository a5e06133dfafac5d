/** The sandbox rail while seed data is written: its real cycle and journal at the world's clock. */
import { createLog } from '../../../src/base/log.js'
import { systemRandom } from '../../../src/base/random.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { RailReport } from '../../../src/rails/rail.js'
import { createCycle } from '../../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../../src/rails/sandbox/journal.js'
import type { World } from '../../support/world.js'

export type SeedRail = Awaited<ReturnType<typeof openSeedRail>>

export async function openSeedRail(world: World, file: string) {
  const random = systemRandom()
  const journal = await openJournal(file, random)
  const reports: RailReport[] = []
  /** Reports that are expected or being booked. */
  let due = 0
  const cycle = createCycle({
    ...{ journal, clock: world.clock, random, delayMs: 0 },
    log: createLog('seed', { LOG_LEVEL: 'silent' }),
    publish: (received) => void reports.push(...received),
    fail: (error) => {
      throw error
    },
  })
  await cycle.start()

  /** Passes the instructions so far to the rail. */
  const submit = async (): Promise<void> => {
    const orders = world.railInstructions.splice(0)
    if (orders.length > 0) await cycle.submit(orders, () => undefined)
  }
  return {
    submit,
    /**
     * Also books the reports, until none is due: one for each instruction. Several may wait for
     * that at a time.
     */
    settle: async (): Promise<void> => {
      while (world.railInstructions.length + due > 0) {
        due += world.railInstructions.filter(({ kind }) => kind !== 'acknowledge').length
        await submit()
        const commands = reports.splice(0).map((report) => applyRailReport(report, 0))
        if (commands.length > 0) await world.runAll(commands)
        else await new Promise((resolve) => setImmediate(resolve))
        due -= commands.length
      }
    },
    close: async (): Promise<void> => {
      await cycle.stop()
      await journal.close()
    },
  }
}
