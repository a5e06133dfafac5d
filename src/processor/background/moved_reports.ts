/**
 * The rail's reports about payments whose partner has moved to another shard: they follow it.
 *
 * Does not own: their rows (store/cluster/partner_moves), applying a report
 * (rail_reports/rail_report_apply).
 *
 * - The rail reports to the shard that sent the instruction. It is acknowledged once the report is
 *   stored for the other shard, with all others of its message.
 * - Stored reports are applied a page at a time, in order, with as few commits as those of a rail.
 *   Each is deleted after the commit that applies it. One whose partner has left again stays for
 *   its next owner. A repeated report changes nothing.
 * - A payment that has moved is known by the first 64 bits of its id's digest: 24 bytes each.
 */
import { createHash } from 'node:crypto'
import { SECOND } from '../../base/clock.js'
import type { PartnerId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import { createPeriodicWork } from '../../base/periodic_work.js'
import type { Report__Output } from '../../../protos/types/causeway/rail/v1/Report.js'
import { readReport, writeReport } from '../../rails/report_codec.js'
import type { RailReport } from '../../rails/rail.js'
import type { PartnerMoves, StoredReport } from '../../store/cluster/partner_moves.js'
import { createIdempotencyIndex, type Fingerprint64 } from '../cache/idempotency_index.js'
import { isReadOnly, type Memory } from '../cache/memory.js'
import { applyRailReport } from '../commands/rail_reports/rail_report_apply.js'
import { refuse, type Answer } from '../cycle/answer.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { RailLinks } from './rail_links.js'

const LOOK_EVERY_MS = SECOND
const PAGE = 500
const LOADED_AT_ONCE = 10_000

export interface MovedReports {
  /** Passes on those about moved payments. @returns the others */
  forwarded(
    reports: readonly RailReport[],
    rail: string,
    finalityWindowMs: number,
  ): readonly RailReport[]
  /** The partner leaves with these payments: once it is not here, reports about them follow it. */
  leaves(partner: string, payments: readonly string[]): void
  start(): void
  /** Resolves when none is under way. */
  stop(): Promise<void>
}

export interface MovedReportsDependencies {
  readonly shard: string
  readonly stored: Pick<
    PartnerMoves,
    'movedPayments' | 'forwardReports' | 'reportsFor' | 'deleteReports'
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
  const payments = createIdempotencyIndex()
  const partners: string[] = []
  const leaves = (partner: string, ids: readonly string[]): void => {
    if (!partners.includes(partner)) partners.push(partner)
    const number = partners.indexOf(partner)
    for (const id of ids) payments.replace(fingerprint(id), number)
  }
  for (let after = ''; ;) {
    const page = await stored.movedPayments(shard, after, LOADED_AT_ONCE)
    for (const { id, partner } of page) leaves(partner, [id])
    if (page.length < LOADED_AT_ONCE) break
    after = page.at(-1)!.id
  }
  const partnerOf = (id: string): string | undefined => {
    const [number] = payments.candidates(fingerprint(id))
    return number === undefined ? undefined : partners[number]
  }

  const forward = async (
    moved: ReadonlyMap<RailReport, string>,
    rail: string,
    finalityWindowMs: number,
  ): Promise<void> => {
    await stored.forwardReports(
      [...moved].map(([report, partner]) => {
        const text = JSON.stringify(writeReport({ ...report, reportId: null }))
        return { partner, rail, finalityWindowMs, report: text }
      }),
    )
    for (const [{ id, reportId, status }, partner] of moved) {
      if (reportId !== null) links.send([{ kind: 'acknowledge', reportId }], rail)
      log.info({ entity_id: id, partner, status }, 'report of a rail is passed on')
    }
  }

  /** Whether it is applied. */
  const apply = async (stored: StoredReport): Promise<boolean> => {
    const { id, partner, rail, finalityWindowMs, report: text } = stored
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
    return answer.ok
  }

  const look = async (): Promise<void> => {
    if (isReadOnly(memory)) return
    const page = await stored.reportsFor(shard, PAGE)
    const applied = await Promise.all(
      page.map((each) =>
        apply(each).catch((error: unknown) => {
          log.error({ error, report: each.id }, 'a passed-on report is not applied')
          return false
        }),
      ),
    )
    const done = page.filter((_, index) => applied[index]).map(({ id }) => id)
    if (done.length > 0) await stored.deleteReports(done)
  }

  const looks = createPeriodicWork(LOOK_EVERY_MS, look, (error) =>
    log.error({ error }, 'applying passed-on reports failed'),
  )

  return {
    forwarded: (reports, rail, finalityWindowMs) => {
      if (partners.length === 0) return reports
      const moved = new Map<RailReport, string>()
      for (const report of reports) {
        const partner = partnerOf(report.id)
        if (partner !== undefined && !memory.partners.has(partner as PartnerId))
          moved.set(report, partner)
      }
      if (moved.size === 0) return reports
      forward(moved, rail, finalityWindowMs).catch((error: unknown) => {
        // They come again with the next link.
        log.error({ error, reports: moved.size }, 'reports are not passed on')
      })
      return reports.filter((report) => !moved.has(report))
    },
    leaves,
    ...looks,
  }
}

const fingerprint = (id: string): Fingerprint64 => {
  const digest = createHash('sha256').update(id).digest()
  return { high: digest.readUInt32LE(0), low: digest.readUInt32LE(4) }
}

const NO_REPORT: Report__Output = {
  ...{ report_id: '', id: '', status: '', transaction_id: '', amount: '0', currency: '' },
  ...{ refusal: '', destination_account: '', destination_bank: '', environment: '' },
  ...{ rail: '', shard: '', route: '' },
}
