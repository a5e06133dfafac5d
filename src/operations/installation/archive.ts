/**
 * `archive FILE`: moves payments that ended long ago from the books to a file.
 *
 * Does not own: the file and the order of the move (backup/archive_file).
 *
 * - At most 100 payments at a time. A removal, for which payments wait, comes at the earliest three
 *   times as long after the one before as that took; meanwhile the next payments are read and
 *   written to the file. A run that is killed loses nothing; the next one goes on.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { openArchive, type Archived, type MovingBooks } from '../../backup/archive_file.js'
import { deciderOf, CHANGE } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { momentIn } from '../money/statement_comparison.js'

const PAUSE_SHARE = 3

export const archive: CliCommand = {
  usage: 'archive FILE',
  about: 'move payments of before a day, and half a year old or more, from the books to FILE',
  options: [...CHANGE, 'before'],
  run: async (context, [path = '']) => {
    const day = String(momentIn('before', context.flags.before))
    const { shards } = context.access
    if (shards !== undefined) {
      const names = [...shards.reached.keys()].join(', ')
      throw new CommandFault(`Each shard has an archive: name it with --shard, of ${names}.`)
    }
    const file = await openArchive(path)
    try {
      return reportOf(file.path, await file.move(booksOf(context, file, day)))
    } finally {
      await file.close()
    }
  },
}

function booksOf(
  context: Context,
  { id: archive_id, path }: { readonly id: string; readonly path: string },
  before: string,
): MovingBooks {
  const { operator } = context
  const actor = deciderOf(context)
  let nextAt = performance.now()
  return {
    page: (after) => operator.call('ListArchivable', { before, after }),
    claim: async () => {
      await operator.call('RemoveArchived', { actor, archive_id, path, payments: [] })
    },
    remove: async (payments) => {
      await pause(Math.max(0, nextAt - performance.now()))
      const begunAt = performance.now()
      const request = { actor, archive_id, path, payments: [...payments] }
      const { removed } = await operator.call('RemoveArchived', request)
      const endedAt = performance.now()
      nextAt = endedAt + PAUSE_SHARE * (endedAt - begunAt)
      return removed
    },
  }
}

function reportOf(path: string, { moved, kept }: Archived): Report {
  const lines = [
    `${moved} payments moved to ${path}; ${kept} stay, because they are open or needed.`,
    'The ledger entries stay in the books. The audit of the books reads the archive too: keep it.',
  ]
  return { value: { moved, kept, path }, lines }
}
