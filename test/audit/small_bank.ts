/**
 * The sandbox rail joined to a world by hand: its real cycle and journal, without its doors.
 *
 * What the processor has ordered is carried to the rail and what the rail says back, until both are
 * silent. The rail takes no time; what it plans for later stays planned.
 */
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import { createCycle } from '../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import type { World } from '../support/world.js'

export interface SmallBank {
  /** Carries orders and reports to and fro until there is nothing left to carry. */
  settle(): Promise<void>
  /** Gives the rail an order that the processor did not send. */
  tell(order: RailInstruction): Promise<void>
  close(): Promise<void>
}

export async function openSmallBank(world: World, file: string): Promise<SmallBank> {
  const journal = await openJournal(file)
  const reports: RailReport[] = []
  const cycle = createCycle({
    journal,
    clock: world.clock,
    random: systemRandom(),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
    delayMs: 0,
    publish: (sent) => void reports.push(...sent),
    fail: (error) => {
      throw error
    },
  })
  await cycle.start()

  const settle = async (): Promise<void> => {
    while (world.railInstructions.length + reports.length > 0) {
      await cycle.submit(
        world.railInstructions.splice(0),
        (answers) => void reports.push(...answers),
      )
      for (const report of reports.splice(0)) await world.railReports(report)
    }
  }
  return {
    settle,
    tell: async (order) => {
      await cycle.submit([order], (answers) => void reports.push(...answers))
      await settle()
    },
    close: async () => {
      await cycle.stop()
      await journal.close()
    },
  }
}
