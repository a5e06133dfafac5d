/**
 * What a simulated processor does by itself for its payouts: the comparison with orphan executions
 * after a start, timers, and inquiries about orphan executions, with the product's own commands.
 */
import { SECOND, type Clock, type Pause } from '../../../src/base/clock.js'
import { compareUnsubmitted } from '../../../src/processor/background/orphan_comparison.js'
import { createOrphanInquiries } from '../../../src/processor/background/orphan_inquiries.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import { firePayoutTimer } from '../../../src/processor/commands/rail_reports/timer_fire.js'
import type { Reply } from '../../../src/processor/cycle/answer.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { SANDBOX_RAIL, type RailInstruction, type RailReport } from '../../../src/rails/rail.js'
import type { Store } from '../../../src/store/store.js'
import { SILENT_LOG as log } from '../../support/logs.js'
import type { ShardBooks } from './books.js'

/** A command that no partner has sent. */
export interface OwnCommand {
  readonly command: Command
  readonly reply: Reply
}

export interface PaymentTimers {
  readonly books: ShardBooks
  readonly clock: Clock
  readonly pause: Pause
  readonly submit: (command: Command, reply?: Reply) => void
  readonly send: (sent: readonly RailInstruction[]) => void
  /** A page of the payouts that are accepted and not submitted. */
  readonly unsubmitted: (after: string) => Promise<readonly { readonly id: string }[]>
  readonly railUp: () => boolean
  readonly isEnding: () => boolean
}

const EVERY_MS = 2 * SECOND
/** Inquiries about orphan executions follow each other at so many times that. */
const INQUIRE_EVERY = 5
/** After that, what the rail does not have has not arrived. */
const FINAL_AFTER_MS = 5 * SECOND

export const reportCommand = (report: RailReport): Command =>
  applyRailReport(report, FINAL_AFTER_MS)

/** Goes on until the process ends. */
export async function movePayments(options: PaymentTimers): Promise<void> {
  const { books, clock, pause, submit, send, unsubmitted, railUp, isEnding } = options
  const { memory, payments } = books
  const lists = {
    unsubmitted: (kind: string, after: string) =>
      kind === 'payouts' ? unsubmitted(after) : Promise.resolve([]),
  }
  await compareUnsubmitted({
    store: { lists } as unknown as Pick<Store, 'lists'>,
    pipeline: { submit: ({ command, reply }) => submit(command, reply) },
    ...{ memory, log },
  })
  const inquiries = createOrphanInquiries({
    memory,
    rails: { names: [SANDBOX_RAIL], up: railUp, send },
  })
  for (let times = 0; !isEnding(); times++) {
    for (const id of payments.due(clock.now())) submit(firePayoutTimer(id))
    if (times % INQUIRE_EVERY === 0) inquiries.inquire()
    await pause(EVERY_MS)
  }
}
