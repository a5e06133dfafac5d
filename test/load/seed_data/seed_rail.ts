/**
 * The sandbox rail of a past: its real cycle and journal, at the world's clock, which takes no
 * time.
 *
 * Owns: carrying orders there and reports back, many at a time, until every answer that is due has
 * come and is booked. Several may wait for that at a time.
 */
import { createLog } from '../../../src/base/log.js'
import { systemRandom } from '../../../src/base/random.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { RailInstruction, RailReport } from '../../../src/rails/rail.js'
import { createCycle } from '../../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../../src/rails/sandbox/journal.js'
import type { World } from '../../support/world.js'

export interface SeedRail {
  /** Gives it orders of its own, beside those of the processor. */
  tell(orders: readonly RailInstruction[]): void
  settle(): Promise<void>
  close(): Promise<void>
}

/** The rail keeps instructions to accounts that end so for ever. */
const STUCK = /^999000.*0008$/

export async function openSeedRail(world: World, file: string): Promise<SeedRail> {
  const journal = await openJournal(file)
  const reports: RailReport[] = []
  const extra: RailInstruction[] = []
  /** Answers that are due, and those that are being booked. */
  let due = 0
  const cycle = createCycle({
    journal,
    clock: world.clock,
    random: systemRandom(),
    log: createLog('seed', { LOG_LEVEL: 'silent' }),
    delayMs: 0,
    publish: (sent) => void reports.push(...sent),
    fail: (error) => {
      throw error
    },
  })
  await cycle.start()

  return {
    tell: (orders) => void extra.push(...orders),
    settle: async () => {
      while (world.railInstructions.length + extra.length + due > 0) {
        const orders = [...world.railInstructions.splice(0), ...extra.splice(0)]
        due += orders.filter(isAnsweredByReport).length
        if (orders.length > 0) await cycle.submit(orders, () => undefined)
        const commands = reports.splice(0).map((report) => applyRailReport(report, 0))
        if (commands.length > 0) await world.runAll(commands)
        else await new Promise((resolve) => setImmediate(resolve))
        due -= commands.length
      }
    },
    close: async () => {
      await cycle.stop()
      await journal.close()
    },
  }
}

const isAnsweredByReport = (order: RailInstruction): boolean =>
  (order.kind === 'instruct' && !STUCK.test(order.instruction.destination.account)) ||
  order.kind === 'recall' ||
  order.kind === 'simulate'
