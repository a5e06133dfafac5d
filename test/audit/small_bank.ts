/**
 * The sandbox rail connected to a test world directly: its real cycle and journal, without gRPC.
 *
 * It passes instructions to the rail and reports back until both are idle. The rail has no delay;
 * work that it schedules for later stays scheduled.
 */
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import { createCycle } from '../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import type { World } from '../support/world.js'

export interface SmallBank {
  /** Passes instructions and reports on until none is left. */
  settle(): Promise<void>
  /** Sends the rail an instruction that the processor did not send. */
  send(instruction: RailInstruction): Promise<void>
  close(): Promise<void>
}

export async function openSmallBank(world: World, file: string): Promise<SmallBank> {
  const random = systemRandom()
  const journal = await openJournal(file, random)
  const reports: RailReport[] = []
  const cycle = createCycle({
    journal,
    clock: world.clock,
    random,
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
    send: async (instruction) => {
      await cycle.submit([instruction], (answers) => void reports.push(...answers))
      await settle()
    },
    close: async () => {
      await cycle.stop()
      await journal.close()
    },
  }
}
