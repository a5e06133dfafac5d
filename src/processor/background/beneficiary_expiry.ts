/**
 * Erases beneficiaries without a payout for as long as the setting says: name and account number,
 * in the beneficiary and in the copies of its payouts.
 *
 * Owns: when, how many at a time, and which ones. Does not own: the changes
 * (commands/retention/beneficiaries_erase).
 *
 * - Once a day beneficiaries are read from the oldest on. One with a young or open payout stays as
 *   a whole, and so do all its payouts.
 * - A commit erases at most PAYOUTS_A_STEP payouts and is followed by a pause, because payments use
 *   the same commits. The beneficiary is the last one: after a crash its payouts are looked at
 *   again.
 * - A payout that is accepted in the same moment has a copy of its own, with which it is paid.
 */
import { DAY, plus, systemPause, type Clock, type Instant } from '../../base/clock.js'
import { instantOf } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { SteadyClock } from '../../base/steady_clock.js'
import type { BeneficiaryAge, PayoutOfBeneficiary } from '../../store/beneficiary_ages.js'
import type { Lists } from '../../store/lists.js'
import { eraseBeneficiary, erasePayees } from '../commands/retention/beneficiaries_erase.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import { createDailyWork, type DailyWork } from './daily_work.js'

export interface BeneficiaryExpiryDependencies {
  /** Days without a payout. 0 means that beneficiaries are kept for good. */
  readonly keepDays: number
  readonly clock: Clock
  readonly isSteady: SteadyClock['isSteady']
  readonly lists: Pick<Lists, 'beneficiaryAges'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
  readonly rowsAtOnce?: number
  readonly payoutsAStep?: number
  /** After each commit. */
  readonly pauseMs?: number
}

const ROWS_AT_ONCE = 100
const PAYOUTS_A_STEP = 50
const PAUSE_MS = 100
/** Between two pages of beneficiaries. */
const READ_PAUSE_MS = 20

/** A run erases all beneficiaries that are old then. */
export function createBeneficiaryExpiry(dependencies: BeneficiaryExpiryDependencies): DailyWork {
  const { keepDays, clock, isSteady, pipeline, log } = dependencies
  const { rowsAtOnce = ROWS_AT_ONCE, payoutsAStep = PAYOUTS_A_STEP } = dependencies
  const { pauseMs = PAUSE_MS } = dependencies
  const { beneficiaryAges: ages } = dependencies.lists
  const stopped = new AbortController()

  const run = async (): Promise<boolean> => {
    const before = plus(clock.now(), -keepDays * DAY)
    const isOld = ({ isErased, latestPayout }: BeneficiaryAge): boolean =>
      isErased === 0 && (latestPayout === null || instantOf(latestPayout) < before)
    let erased = 0
    for (let after = ''; !stopped.signal.aborted;) {
      const page = await ages.beneficiaries(after, before, rowsAtOnce)
      for (const beneficiary of page.filter(isOld)) {
        if (await isNeeded(beneficiary)) continue
        if (!(await erase(beneficiary, before))) return stopped.signal.aborted
        erased += 1
      }
      if (page.length < rowsAtOnce) break
      after = page.at(-1)!.id
      await systemPause(Math.min(pauseMs, READ_PAUSE_MS), stopped.signal)
    }
    if (erased > 0) log.info({ beneficiaries: erased }, 'beneficiaries without payouts are erased')
    return true
  }

  async function* payoutsOf(
    beneficiary: BeneficiaryAge,
  ): AsyncGenerator<readonly PayoutOfBeneficiary[]> {
    for (let after = ''; ;) {
      const page = await ages.payouts(beneficiary, after, payoutsAStep)
      if (page.length > 0) yield page
      if (page.length < payoutsAStep) return
      after = page.at(-1)!.id
    }
  }

  const isNeeded = async (beneficiary: BeneficiaryAge): Promise<boolean> => {
    for await (const page of payoutsOf(beneficiary)) {
      if (page.some((payout) => payout.isNeeded === 1)) return true
    }
    return false
  }

  /** False if it was stopped, or the books are read-only. */
  const erase = async (beneficiary: BeneficiaryAge, before: Instant): Promise<boolean> => {
    for await (const page of payoutsOf(beneficiary)) {
      const ids = page.map(({ id }) => id)
      if (!(await commit(erasePayees(ids, before)))) return false
    }
    return commit(eraseBeneficiary(beneficiary.id, before))
  }

  /** False if it was stopped, or the books are read-only. */
  const commit = async (command: Command): Promise<boolean> => {
    if (stopped.signal.aborted) return false
    const isDone = await new Promise<boolean>((resolve) => {
      pipeline.submit(internalWork(command, 'service', ({ ok }) => resolve(ok)))
    })
    await systemPause(pauseMs, stopped.signal)
    return isDone
  }

  return createDailyWork({
    ...{ clock, isSteady, isOn: keepDays > 0, run, stopped },
    onError: (error) => log.error({ error }, 'beneficiaries without payouts cannot be erased'),
  })
}
