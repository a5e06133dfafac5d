/** Faults of the area `durability`. */
import type { Mutant } from '../mutant.js'

export const DURABILITY: readonly Mutant[] = [
  {
    fault: 'Replies are sent before the commit.',
    file: 'src/processor/cycle/pipeline.ts',
    text: '    if (commitBatch.hasRows()) {\n' + '      const now',
    replacement:
      '    commitBatch.sendReplies()\n' + '    if (commitBatch.hasRows()) {\n' + '      const now',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'A read does not wait for the commit of the change that it saw.',
    file: 'src/processor/cycle/pipeline.ts',
    text: '} else await store.barrier()',
    replacement: '}',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'A failed commit does not stop the process.',
    file: 'src/processor/cycle/pipeline.ts',
    text: "(error: unknown) => stop('commit failed with an unknown outcome', error),",
    replacement: '() => (committing = false),',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'A command that fails half-way is answered and its rows are committed.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'if (commitBatch.changes !== before) return stop',
    replacement: 'if (commitBatch.changes < before) return stop',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'Rail instructions are sent twice.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'dependencies.rail.send(sent, rail)',
    replacement: '{ dependencies.rail.send(sent, rail); dependencies.rail.send(sent, rail) }',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'Two commits are in flight at a time.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'committing = true\n',
    replacement: 'committing = false\n',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'The first version of a row wins over the last of its batch.',
    file: 'src/processor/cycle/commit_batch.ts',
    text: 'rows.set(key, row)',
    replacement: 'rows.set(key, rows.get(key) ?? row)',
    test: 'test/processor/commit_batch',
  },
]
