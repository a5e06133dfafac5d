/**
 * The sandbox rail of a past: its real cycle and journal, at the world's clock, which takes no
 * time.
 *
 * Owns: carrying orders there and news back, many at a time, until every answer that is due has
 * come and is booked. Several may wait for that at a time.
 */
import { createLog } from '../../../src/base/log.js'
import { systemRandom } from '../../../src/base/random.js'
import { railNews } from '../../../src/processor/commands/rail_news.js'
import type { RailOrder, RailReport } from '../../../src/rails/rail.js'
import { createCycle } from '../../../src/rails/sandbox/cycle.js'
import { openJournal } from '../../../src/rails/sandbox/journal.js'
import type { World } from '../../support/world.js'

export interface PastRail {
  /** Gives it orders of its own, beside those of the processor. */
  tell(orders: readonly RailOrder[]): void
  settle(): Promise<void>
  close(): Promise<void>
}

/** The rail keeps instructions to accounts that end so for ever. */
const STUCK = /^999000.*0008$/

export async function openPastRail(world: World, file: string): Promise<PastRail> {
  const journal = await openJournal(file)
  const reports: RailReport[] = []
  const extra: RailOrder[] = []
  /** Answers that are due, and those that are being booked. */
  let due = 0
  const cycle = createCycle({
    journal,
    clock: world.clock,
    random: systemRandom(),
    log: createLog('seed', { LOG_LEVEL: 'silent' }),
    delayMs: 0,
    tell: (news) => void reports.push(...news),
    fail: (error) => {
      throw error
    },
  })
  await cycle.start()

  return {
    tell: (orders) => void extra.push(...orders),
    settle: async () => {
      while (world.orders.length + extra.length + due > 0) {
        const orders = [...world.orders.splice(0), ...extra.splice(0)]
        due += orders.filter(isAnsweredByNews).length
        if (orders.length > 0) await cycle.take(orders, () => undefined)
        const commands = reports.splice(0).map((report) => railNews(report, 0))
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

const isAnsweredByNews = (order: RailOrder): boolean =>
  (order.kind === 'instruct' && !STUCK.test(order.instruction.destination.account)) ||
  order.kind === 'recall' ||
  order.kind === 'simulate'
