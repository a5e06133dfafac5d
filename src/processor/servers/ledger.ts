/**
 * Streams the ledger to accounting: entries of a period, and balances at a moment.
 *
 * Does not own: the rows (queries/ledger), the journal's columns and its check (operations).
 *
 * - Commands before the call are committed before the first page is read, so a period that has
 *   ended is whole.
 * - The operator's name and reason are committed before the first entry is sent.
 * - Each stream holds one page in memory, and the balances at the end of the period: those at its
 *   beginning are the same without the entries of the period, so each entry since is read once.
 * - After each read a stream pauses three times as long as the read took, so it leaves commands and
 *   lists most of the processor, and the more the busier that is.
 */
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { BalancesRequest__Output as BalancesRequest } from '../../../protos/types/causeway/operator/v1/BalancesRequest.js'
import type { EntriesRequest__Output as EntriesRequest } from '../../../protos/types/causeway/operator/v1/EntriesRequest.js'
import type { LedgerHandlers } from '../../../protos/types/causeway/operator/v1/Ledger.js'
import type { LedgerPage } from '../../../protos/types/causeway/operator/v1/LedgerPage.js'
import { systemPause } from '../../base/clock.js'
import type { ErrorCode } from '../../base/errors.js'
import type { TenantId } from '../../base/ids.js'
import { noteAction } from '../commands/operators/action_note.js'
import { trialBalance } from '../commands/operators/trial_balance.js'
import type { Command } from '../cycle/command.js'
import {
  ledgerBalances,
  ledgerEntries,
  postingsDuring,
  type BalancesView,
  type EntriesView,
  type PeriodView,
} from '../queries/ledger.js'
import type { Query } from '../queries/query.js'
import type { PostingRange } from '../../store/ledger.js'
import { drained } from './drained.js'
import { createPageStreams } from './page_streams.js'
import { momentOf, periodOf } from './period.js'
import { actingAs, decided, tenantIn, type UnaryDependencies } from './unary_handler.js'

type LedgerStream<Request> = ServerWritableStream<Request, LedgerPage>

const PAUSE_MIN_MS = 5
const PAUSE_SHARE = 3
const BALANCES_OF_A_PAGE = 500

export function ledgerService(
  dependencies: UnaryDependencies,
  pause: (ms: number) => Promise<void> = systemPause,
): LedgerHandlers {
  const { clock } = dependencies
  const streams = createPageStreams()

  const write = async (stream: LedgerStream<unknown>, page: LedgerPage): Promise<void> => {
    if (!stream.write(page)) await drained(stream)
  }

  /**
   * Each call is at the end of a read, and awaits the pause after it. False if the caller left.
   */
  const pauses = (stream: LedgerStream<unknown>) => {
    let readAt = clock.now()
    return async (): Promise<boolean> => {
      await pause(Math.max(PAUSE_MIN_MS, PAUSE_SHARE * (clock.now() - readAt)))
      readAt = clock.now()
      return !stream.cancelled
    }
  }

  const readBalances = (
    stream: LedgerStream<unknown>,
    since: readonly PostingRange[],
    tenant?: TenantId,
    later?: BalancesView,
  ) => runFor(stream, ledgerBalances(since, pauses(stream), tenant, later?.byAccount))

  const sendBalances = async (
    stream: LedgerStream<unknown>,
    { balances }: BalancesView,
    member: 'opening' | 'balances',
  ): Promise<void> => {
    for (let at = 0; at < balances.length && !stream.cancelled; at += BALANCES_OF_A_PAGE) {
      await write(stream, { [member]: balances.slice(at, at + BALANCES_OF_A_PAGE) })
    }
  }

  const runFor = (stream: LedgerStream<unknown>, query: Query) =>
    dependencies.reader.run(query, () => !stream.cancelled)

  /** The postings of a period, when the command is committed. */
  const rangeAfter = async (
    stream: LedgerStream<unknown>,
    command: Command,
    from: number,
    to: number,
  ) => {
    const done = await decided(dependencies, stream.metadata, { queueKey: 'internal', command })
    return done.ok ? runFor(stream, postingsDuring(from, to)) : done
  }

  const sendEntries = async (stream: LedgerStream<EntriesRequest>): Promise<ErrorCode | null> => {
    const { actor, tenant: named, without_balances: isBare, ...request } = stream.request
    const period = periodOf(request)
    const tenant = named ? tenantIn(dependencies.memory, named) : undefined
    if (period === null || tenant === null) return 'invalid_request'
    const subject = tenant === undefined ? period.name : `${tenant}, ${period.name}`
    const note = actingAs(actor, (a) => noteAction(a, { action: 'read_ledger', subject }))
    if (note === null) return 'invalid_request'
    const found = await rangeAfter(stream, note, period.from, period.to)
    if (!found.ok) return found.code

    const { during, sinceEnd } = found.view as PeriodView
    let closing: BalancesView | undefined
    if (!isBare) {
      const atEnd = await readBalances(stream, sinceEnd, tenant)
      if (!atEnd.ok) return atEnd.code
      closing = atEnd.view as BalancesView
      const atStart = await readBalances(stream, during, tenant, closing)
      if (!atStart.ok) return atStart.code
      await sendBalances(stream, atStart.view as BalancesView, 'opening')
    }
    const rest = pauses(stream)
    for (const { from, below } of during) {
      let after: EntriesView['next'] = from < below ? { posting: from, line: -1 } : null
      while (after !== null && !stream.cancelled) {
        const read = await runFor(stream, ledgerEntries(after, below, tenant))
        if (!read.ok) return read.code
        const { entries, next } = read.view as EntriesView
        after = next
        await rest()
        if (entries.length > 0) await write(stream, { entries: [...entries] })
      }
    }
    if (closing !== undefined) await sendBalances(stream, closing, 'balances')
    return null
  }

  return {
    Entries: streams(sendEntries),
    Balances: streams(async (stream: LedgerStream<BalancesRequest>) => {
      const at = momentOf(stream.request.at)
      if (at === null) return 'invalid_request'
      const found = await rangeAfter(stream, trialBalance(undefined), at, at)
      if (!found.ok) return found.code
      const balances = await readBalances(stream, (found.view as PeriodView).sinceEnd)
      if (!balances.ok) return balances.code
      await sendBalances(stream, balances.view as BalancesView, 'balances')
      return null
    }),
  }
}
