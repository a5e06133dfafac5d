/**
 * The rail's reports about payments whose partner has moved to another shard: they follow it.
 *
 * Does not own: their rows (store/cluster/partner_moves), applying a report
 * (rail_reports/rail_report_apply).
 *
 * - The rail reports to the shard that sent the instruction. It is acknowledged once the report is
 *   stored for the other shard.
 * - A stored report is deleted after the commit that applies it. One whose partner has left again
 *   stays for its next owner. A repeated report changes nothing.
 */
import { SECOND } from '../../base/clock.js'
import type { PartnerId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import { createPeriodicWork } from '../../base/periodic_work.js'
import type { Report__Output } from '../../../protos/types/causeway/rail/v1/Report.js'
import { readReport, writeReport } from '../../rails/report_codec.js'
import type { RailReport } from '../../rails/rail.js'
import type { PartnerMoves, StoredReport } from '../../store/cluster/partner_moves.js'
import { isReadOnly, type Memory } from '../cache/memory.js'
import { applyRailReport } from '../commands/rail_reports/rail_report_apply.js'
import { refuse, type Answer } from '../cycle/answer.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { RailLinks } from './rail_links.js'

const LOOK_EVERY_MS = SECOND
const PAGE = 500

export interface MovedReports {
  /** Passes on those about moved payments. @returns the others */
  forwarded(
    reports: readonly RailReport[],
    rail: string,
    finalityWindowMs: number,
  ): readonly RailReport[]
  /** A partner has left or come. */
  refresh(): Promise<void>
  start(): void
  /** Resolves when none is under way. */
  stop(): Promise<void>
}

export interface MovedReportsDependencies {
  readonly shard: string
  readonly stored: Pick<
    PartnerMoves,
    'movedPayments' | 'forwardReport' | 'reportsFor' | 'deleteReport'
  >
  readonly memory: Memory
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly rail: Pick<RailLinks, 'send'>
  readonly log: Logger
}

export async function createMovedReports({
  shard,
  stored,
  memory,
  pipeline,
  rail: links,
  log,
}: MovedReportsDependencies): Promise<MovedReports> {
  let partners: ReadonlyMap<string, string> = new Map()
  const refresh = async (): Promise<void> => {
    const moved = await stored.movedPayments(shard)
    partners = new Map(moved.map(({ id, partner }) => [id, partner]))
  }
  await refresh()

  const forward = async (
    report: RailReport,
    partner: string,
    rail: string,
    finalityWindowMs: number,
  ): Promise<void> => {
    const text = JSON.stringify(writeReport({ ...report, reportId: null }))
    await stored.forwardReport({ partner, rail, finalityWindowMs, report: text })
    const { id, reportId } = report
    if (reportId !== null) links.send([{ kind: 'acknowledge', reportId }], rail)
    log.info({ entity_id: id, partner, status: report.status }, 'report of a rail is passed on')
  }

  const apply = async ({ id, partner, rail, finalityWindowMs, report: text }: StoredReport) => {
    const report = readReport({ ...NO_REPORT, ...(JSON.parse(text) as Partial<Report__Output>) })
    if (report === undefined) throw new Error(`the stored report ${id} cannot be read`)
    const command = applyRailReport(report, finalityWindowMs, rail)
    const decide: Command['decide'] = (ctx) =>
      ctx.memory.partners.has(partner as PartnerId)
        ? command.decide(ctx)
        : refuse('configuration_error')
    const answer = await new Promise<Answer>((reply) =>
      pipeline.submit(internalWork({ ...command, decide }, 'rail', reply)),
    )
    if (answer.ok) await stored.deleteReport(id)
  }

  const look = async (): Promise<void> => {
    if (isReadOnly(memory)) return
    for (const each of await stored.reportsFor(shard, PAGE)) {
      await apply(each).catch((error: unknown) =>
        log.error({ error, report: each.id }, 'a passed-on report is not applied'),
      )
    }
  }

  const looks = createPeriodicWork(LOOK_EVERY_MS, look, (error) =>
    log.error({ error }, 'applying passed-on reports failed'),
  )

  return {
    forwarded: (reports, rail, finalityWindowMs) => {
      if (partners.size === 0) return reports
      return reports.filter((report) => {
        const partner = partners.get(report.id)
        if (partner === undefined) return true
        forward(report, partner, rail, finalityWindowMs).catch((error: unknown) => {
          // It comes again with the next link.
          log.error({ error, entity_id: report.id }, 'a report is not passed on')
        })
        return false
      })
    },
    refresh,
    ...looks,
  }
}

const NO_REPORT: Report__Output = {
  ...{ report_id: '', id: '', status: '', transaction_id: '', amount: '0', currency: '' },
  ...{ refusal: '', destination_account: '', destination_bank: '', environment: '' },
  ...{ rail: '', shard: '', route: '' },
}
