/**
 * The sandbox rail while seed data is written: its real cycle and journal at the world's clock.
 *
 * `settle` passes instructions there and reports back until every report that is due is booked.
 * Several may wait for that at a time.
 */
import { createLog } from '../../../src/base/log.js'
import { systemRandom } from '../../../src/base/random.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { RailInstruction, RailReport } from '../../../src/rails/rail.js'
import { createCycle } from '../../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../../src/rails/sandbox/journal.js'
import type { World } from '../../support/world.js'

export type SeedRail = Awaited<ReturnType<typeof openSeedRail>>

/** The sandbox never answers instructions to accounts that end so. */
const UNANSWERED = /^999000.*0008$/

export async function openSeedRail(world: World, file: string) {
  const random = systemRandom()
  const journal = await openJournal(file, random)
  const reports: RailReport[] = []
  const extra: RailInstruction[] = []
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

  return {
    /** Adds instructions to those of the processor. */
    instruct: (orders: readonly RailInstruction[]) => void extra.push(...orders),
    settle: async (): Promise<void> => {
      while (world.railInstructions.length + extra.length + due > 0) {
        const orders = [...world.railInstructions.splice(0), ...extra.splice(0)]
        due += orders.filter(isReported).length
        if (orders.length > 0) await cycle.submit(orders, () => undefined)
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

const isReported = (order: RailInstruction): boolean =>
  (order.kind === 'instruct' && !UNANSWERED.test(order.instruction.destination.account)) ||
  order.kind === 'recall' ||
  order.kind === 'simulate'
