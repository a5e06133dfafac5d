/**
 * A world that consecutive test cases share: opening SQLite for each costs more than the case.
 *
 * - Entries and discrepancies are observed in the commits.
 * - A cycle that stops fails only the case in which it stops.
 * - A case may start at an earlier time than the previous one: a restart reads only the case's own
 *   recent payments.
 */
import type { Test } from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import type { Command } from '../../src/processor/cycle/command.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { CommitRows, Store } from '../../src/store/store.js'
import type { Row } from '../../src/store/tables.js'
import { createWorld, type World } from '../support/world.js'

export interface SharedWorld {
  readonly world: World
  readonly entries: Row<'entries'>[]
  /** The entities of discrepancies: since the last call, and in total. */
  readonly freshDiscrepancies: string[]
  readonly knownDiscrepancies: ReadonlySet<string>
  runAll(commands: readonly Command[]): Promise<readonly Answer[]>
  /** Starts a case, with a new cycle if the last one stopped. */
  begin(tenant: TenantId): Promise<void>
}

export async function openSharedWorld(t: Test): Promise<SharedWorld> {
  const entries: Row<'entries'>[] = []
  const freshDiscrepancies: string[] = []
  const knownDiscrepancies = new Set<string>()
  const knownIds = new Set<string>()
  let current: TenantId | null = null
  let stopped: string | null = null
  let onStop: (reason: string) => void = () => undefined

  const observe = (batch: CommitRows): CommitRows => {
    const rows = {
      ...batch.rows,
      entries: [...(batch.rows.entries ?? [])],
      discrepancies: [...(batch.rows.discrepancies ?? [])],
    }
    entries.push(...rows.entries)
    for (const { id, entity } of rows.discrepancies) {
      if (!knownIds.has(id)) freshDiscrepancies.push(entity)
      knownIds.add(id)
      knownDiscrepancies.add(entity)
    }
    return { ...batch, rows }
  }

  const world = await createWorld(t, {
    store: (store: Store) => ({
      ...store,
      commit: (batch) => store.commit(observe(batch)),
      boot: async (recentSince) => {
        const state = await store.boot(recentSince)
        const recent = state.recentlyConfirmed.filter(({ tenant }) => tenant === current)
        return { ...state, recentlyConfirmed: recent }
      },
    }),
    onStop: (reason) => {
      stopped = reason
      onStop(reason)
    },
  })

  return {
    world,
    entries,
    freshDiscrepancies,
    knownDiscrepancies,
    runAll: (commands) =>
      new Promise((resolve, reject) => {
        onStop = (reason) => reject(new Error(`the cycle stopped: ${reason}`))
        world.runAll(commands).then(resolve, reject)
      }),
    begin: async (tenant) => {
      current = tenant
      if (stopped !== null) await world.rebuild()
      stopped = null
      entries.length = 0
      freshDiscrepancies.length = 0
    },
  }
}
