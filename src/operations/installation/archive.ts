/**
 * `archive FILE`: moves payments that ended long ago from the books to a file.
 *
 * Does not own: the file and the order of the move (backup/archive_file).
 *
 * - At most 100 payments at a time, and a pause three times as long as their move, so that payments
 *   go on. A run that is killed loses nothing; the next one goes on.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { openArchive, type Archived, type MovingBooks } from '../../backup/archive_file.js'
import { deciderOf, CHANGE } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { momentIn } from '../money/statement_comparison.js'

const PAUSE_MIN_MS = 100
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
  let begun = performance.now()
  return {
    page: (after) => {
      begun = performance.now()
      return operator.call('ListArchivable', { before, after })
    },
    claim: async () => {
      await operator.call('RemoveArchived', { actor, archive_id, path, payments: [] })
    },
    remove: async (payments) => {
      const request = { actor, archive_id, path, payments: [...payments] }
      return (await operator.call('RemoveArchived', request)).removed
    },
    rest: async () => {
      await pause(Math.max(PAUSE_MIN_MS, PAUSE_SHARE * (performance.now() - begun)))
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
