/** Books that were restored, and executions of the rail that they lack. */
import { enterRecovery } from '../../../src/processor/commands/operators/recovery_enter.js'
import { releaseRecovery } from '../../../src/processor/commands/operators/recovery_release.js'
import { addOrphans } from '../../../src/processor/commands/operators/orphan_add.js'
import { resolveOrphan } from '../../../src/processor/commands/operators/orphan_resolve.js'
import { listOrphans } from '../../../src/processor/queries/orphan_list.js'
import { compareUnsubmitted } from '../../../src/processor/background/orphan_comparison.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import type { OrphanExecution__Output as Execution } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import { NO_FINDINGS, RELEASE } from '../../support/statements.js'
import type { World } from '../../support/world.js'
import { dependenciesOf, discrepanciesOf, OPERATOR, readAll } from '../scenarios.js'

const EVIDENCE = 'line 12 of the statement'

/** The execution of `aPayout` with all members of a statement. */
export const execution = (over: Partial<Execution> = {}): Execution => ({
  instruction_id: 'pout_lost',
  environment: 'sandbox',
  purpose: 'payout',
  destination_account: '0123456789',
  amount: '12500000',
  currency: 'VND',
  reference: 'invoice 1',
  transaction_id: 'TX9',
  executed_at: '1764000000000',
  state: '',
  ...over,
})

/** The same payment while the rail has only accepted it. */
export const accepted = (over: Partial<Execution> = {}): Execution =>
  execution({ transaction_id: '', state: 'accepted', ...over })

/** The rail's report about it. */
export const LOST = {
  id: 'pout_lost' as never,
  reportId: 'rr_lost',
  transactionId: 'TX9',
  amount: 12_500_000n,
  currency: 'VND',
  destinationAccount: '0123456789',
} as const

export const without = <M extends keyof Execution>(
  given: Execution,
  ...members: M[]
): Execution => {
  const left = { ...given }
  for (const member of members) delete left[member]
  return left
}

/** Enters recovery mode and releases it, with the restart that follows. */
export async function restored(world: World, ...lost: Execution[]): Promise<Answer> {
  await world.run(enterRecovery('a test'))
  const added = await world.run(addOrphans(OPERATOR, lost))
  await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
  await world.rebuild()
  return added
}

/** As at the start after the release. */
export const compared = (world: World): Promise<void> => compareUnsubmitted(dependenciesOf(world))

export const instructed = (world: World): string[] =>
  world.railInstructions.flatMap((oneInstruction) =>
    oneInstruction.kind === 'instruct' ? [oneInstruction.instruction.id] : [],
  )

/** Ids that the rail was asked about. */
export const inquired = (world: World): string[] =>
  world.railInstructions.flatMap((each) => (each.kind === 'query' ? [each.id] : []))

/** Ids that the rail was asked to recall. */
export const recalled = (world: World): string[] =>
  world.railInstructions.flatMap((each) => (each.kind === 'recall' ? [each.id] : []))

export const orphans = (world: World, resolved = false): Promise<{ held: string[] }[]> =>
  readAll(world, (page) => listOrphans({ resolved, ...page }))

/** The reasons of the discrepancies, oldest first. */
export const reasonsOf = async (world: World): Promise<readonly string[]> =>
  (await discrepanciesOf(world)).map(({ reason }) => reason)

export const resolve = (world: World, instruction: string, paymentId?: string): Promise<Answer> =>
  world.run(
    resolveOrphan(OPERATOR, instruction, {
      resolution: paymentId === undefined ? 'dismissed' : 'matched',
      paymentId,
      evidence: EVIDENCE,
    }),
  )
