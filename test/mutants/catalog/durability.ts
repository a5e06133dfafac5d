/** Faults of the area `durability`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const DURABILITY: readonly Mutant[] = [
  ...faultsIn('src/processor/cycle/pipeline.ts', 'processor/pipeline', {
    'Replies are sent before the commit.': [
      '    if (commitBatch.hasRows()) {\n' + '      const now',
      '    commitBatch.sendReplies()\n' + '    if (commitBatch.hasRows()) {\n' + '      const now',
    ],
    'A read does not wait for the commit of the change that it saw.': [
      '} else await store.barrier()',
      '}',
    ],
    'A failed commit does not stop the process.': [
      "(error: unknown) => stop('commit failed with an unknown outcome', error),",
      '() => (committing = false),',
    ],
    'A command that fails half-way is answered and its rows are committed.': [
      'if (commitBatch.changes !== before) return stop',
      'if (commitBatch.changes < before) return stop',
    ],
    'Rail instructions are sent twice.': [
      'dependencies.rail.send(sent, rail)',
      '{ dependencies.rail.send(sent, rail); dependencies.rail.send(sent, rail) }',
    ],
    'Two commits are in flight at a time.': ['committing = true\n', 'committing = false\n'],
  }),
  ...faultsIn('src/processor/cache/stored_moments.ts', 'processor/damaged_directory', {
    'An impossible moment in memory makes the view of a change fail.': [
      'isMoment(stored) ? stored : 0',
      'stored',
    ],
    'A row with an impossible moment is used as if it were whole.': [
      'each === null || isMoment(each)',
      'each !== undefined',
    ],
  }),
  ...faultsIn('src/processor/cycle/commit_batch.ts', 'processor/commit_batch', {
    'The first version of a row wins over the last of its batch.': [
      'rows.set(key, row)',
      'rows.set(key, rows.get(key) ?? row)',
    ],
  }),
]
