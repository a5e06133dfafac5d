/** What several lines expect of reports and movements. */
import { createMovementTally, type MovementKind } from '../../base/movements.js'
import { sameText } from '../../auth/mac.js'
import type { CheckLink, Reported } from './check_link.js'
import { demand, Skipped, type CheckContext, type Sent } from './context.js'
import type { Summary } from './probe.js'

const FINAL = ['executed', 'refused', 'returned']
const ASK_EVERY_MS = 100
const DIGEST_BITS = 256

/** Sends an instruction and waits until it is executed. */
export async function pay(link: CheckLink, sent: Sent): Promise<Reported> {
  void link.send({ instruct: sent })
  const executed = await link.report(sent.id, 'executed')
  demandExecution(executed, sent)
  return executed
}

/** Asks for the status of an instruction. @returns the next report without a report id */
export async function ask(link: CheckLink, { id, environment, shard }: Asked): Promise<Reported> {
  const before = answersAbout(link, id).length
  void link.send({ query: { id, environment, ...(shard === undefined ? {} : { shard }) } })
  return link.until(`an answer to the query of ${id}`, () => answersAbout(link, id)[before])
}

type Asked = Pick<Sent, 'id' | 'environment' | 'shard'>

const answersAbout = (link: CheckLink, id: string): readonly Reported[] =>
  link.about(id).filter(({ report_id: reportId }) => reportId === '')

/**
 * Brings an instruction to its end as the processor does: it asks, and sends the same instruction
 * again when the adapter does not know it after the finality window.
 */
export async function settle(check: CheckContext, link: CheckLink, sent: Sent): Promise<Reported> {
  let sentAt = check.clock.now()
  const { isOver } = check.deadline()
  for (;;) {
    const answer = await ask(link, sent)
    if (FINAL.includes(answer.status)) return answer
    const now = check.clock.now()
    demand(!isOver(), `${sent.id} stays \`${answer.status}\``)
    if (answer.status === 'not_found' && now - sentAt > check.finalityWindowMs) {
      void link.send({ instruct: sent })
      sentAt = now
    }
    await check.pause(ASK_EVERY_MS)
  }
}

export function demandExecution(report: Reported, sent: Sent): void {
  const { amount, currency, destination_account: account, transaction_id: transaction } = report
  demand(transaction !== '', `${sent.id} is \`${report.status}\` without a transaction id`)
  demand(
    amount === sent.amount && currency === sent.currency,
    `${sent.id}: ${amount} ${currency}, instructed were ${sent.amount} ${sent.currency}`,
  )
  const { account: instructed } = sent.destination
  demand(account === instructed, `${sent.id}: the account is not the instructed one`)
  const { destination_bank: bank } = report
  const instructedBank = sent.destination.bank_code ?? ''
  demand(bank === '' || bank === instructedBank, `${sent.id}: another bank than instructed`)
}

/** Demands that the movements of the adapter grow by these while `act` runs. */
export async function demandMoved(
  check: CheckContext,
  expected: readonly (readonly [sent: Sent, ...movements: MovementKind[]])[],
  act: () => Promise<void>,
): Promise<void> {
  const before = await summaryIfAny(check)
  await act()
  const after = await summaryIfAny(check)
  if (before === undefined || after === undefined) return
  const counted = countOf(after) - countOf(before)
  const moved = expected.reduce((sum, [, ...movements]) => sum + movements.length, 0)
  demand(counted === moved, `the statement has ${counted} movements, ${moved} happened`)
  const tally = createMovementTally()
  for (const [sent, ...movements] of expected) {
    for (const movement of movements) tally.add(lineOf(sent, movement))
  }
  const grown = differenceOf(after.digest, before.digest)
  demand(sameText(grown, tally.figures().digest), 'the statement has other movements than happened')
}

/** A line of a statement, as digests count it. */
export const lineOf = <Movement extends string>(
  { id, currency, amount }: Sent,
  movement: Movement,
) => ({ instruction: id, movement, currency, amount: BigInt(amount) })

/** Without a summary the reports alone are judged. */
async function summaryIfAny(check: CheckContext): Promise<Summary | undefined> {
  try {
    return await check.summary()
  } catch (error) {
    if (error instanceof Skipped) return undefined
    throw error
  }
}

export const countOf = ({ sums }: Pick<Summary, 'sums'>): number =>
  sums.reduce((total, { count }) => total + count, 0)

/** The difference of two sums modulo 2^256. */
export function differenceOf(after: string, before: string): string {
  const difference = BigInt(`0x${after || '0'}`) - BigInt(`0x${before || '0'}`)
  return BigInt.asUintN(DIGEST_BITS, difference)
    .toString(16)
    .padStart(DIGEST_BITS / 4, '0')
}
