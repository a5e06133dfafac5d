/**
 * Compares all payments that are accepted and not submitted with the open orphan executions, at the
 * start that follows a release.
 *
 * Owns: paging through the payments. Does not own: the comparison (operators/orphan_compare), later
 * submissions (changes/advance_payout, changes/advance_intent).
 *
 * - It runs before any timer, so nothing is submitted before it is compared. Each start with open
 *   orphan executions repeats it, so a crash in between loses nothing.
 */
import type { Logger } from '../../base/log.js'
import type { Store } from '../../store/store.js'
import type { Memory } from '../cache/memory.js'
import { compareWithOrphans } from '../commands/operators/orphan_compare.js'
import type { Answer } from '../cycle/answer.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

const PAGE = 500

export interface OrphanComparison {
  readonly store: Pick<Store, 'lists'>
  readonly memory: Pick<Memory, 'orphans'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
}

/** Resolves when each payment is compared. */
export async function compareUnsubmitted(options: OrphanComparison): Promise<void> {
  const { memory, log } = options
  if (memory.orphans.open === 0) return
  const held = (await compareKind(options, 'payouts')) + (await compareKind(options, 'intents'))
  if (held > 0) log.warn({ held }, 'payments that equal orphan executions are held for review')
}

/** @returns how many are held */
async function compareKind(
  { store, pipeline }: OrphanComparison,
  kind: 'payouts' | 'intents',
): Promise<number> {
  const compare = (id: string): Promise<boolean> =>
    new Promise((resolve) => {
      const compared = (answer: Answer): void =>
        resolve(answer.ok && (answer.view as { readonly held: boolean }).held)
      pipeline.submit(internalWork(compareWithOrphans(id), 'service', compared))
    })
  let held = 0
  for (let after = ''; ;) {
    const rows = await store.lists.unsubmitted(kind, after, PAGE)
    const results = await Promise.all(rows.map(({ id }) => compare(id)))
    held += results.filter((isHeld) => isHeld).length
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return held
    after = last.id
  }
}
