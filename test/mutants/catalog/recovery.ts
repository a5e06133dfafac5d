/** Faults of the area `recovery`. */
import type { Mutant } from '../mutant.js'

export const RECOVERY: readonly Mutant[] = [
  {
    fault: 'Recovery mode accepts writes.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'if (isReadOnly(memory) && work',
    replacement: 'if (memory === null && work',
    test: 'test/processor/recovery/recovery_mode',
  },
  {
    fault: 'A payment equal to an orphan execution is not held.',
    file: 'src/processor/changes/orphans.ts',
    text: 'return equal.find(isAlike) ?? named.find(isAlike)',
    replacement: 'return named.find((orphan) => isAlike(orphan) && orphan.amount < 0n)',
    test: 'test/processor/recovery/orphan_payouts',
  },
  {
    fault: 'A payment of the same reference and another amount is not held.',
    file: 'src/processor/changes/orphans.ts',
    text: 'return equal.find(isAlike) ?? named.find(isAlike)',
    replacement: 'return equal.find(isAlike)',
    test: 'test/processor/recovery/orphan_payouts',
  },
  {
    fault: 'The destination of an orphan is not compared.',
    file: 'src/processor/changes/orphans.ts',
    text: '    isEqual(orphan.destination, destination) &&\n',
    replacement: '',
    test: 'test/processor/recovery/orphan_payouts',
  },
  {
    fault: 'Books without an event of the bus are served.',
    file: 'src/processor/recovery/marks.ts',
    text: 'if (await books.hasEvent(id)) return null',
    replacement: "if (id !== '') return null",
    test: 'test/processor/recovery/marks',
  },
  {
    fault: 'Books without an instruction of the rail are served.',
    file: 'src/processor/recovery/marks.ts',
    text: 'if (await books.hasInstruction(id)) return null',
    replacement: "if (id !== '') return null",
    test: 'test/processor/recovery/marks',
  },
  {
    fault: 'An event of the future is a mark.',
    file: 'src/processor/recovery/marks.ts',
    text: 'if (at <= plus(clock.now(), CLOCK_TOLERANCE_MS)) return null',
    replacement: 'if (at > 0) return null',
    test: 'test/processor/recovery/marks',
  },
  {
    fault: 'Other books are taken for these.',
    file: 'src/processor/recovery/high_water.ts',
    text: 'mark.booksId !== books.booksId || mark',
    replacement: 'mark',
    test: 'test/processor/recovery/high_water',
  },
  {
    fault: 'An older epoch is not noticed.',
    file: 'src/processor/recovery/high_water.ts',
    text: 'if (mark.epoch > epoch) return true',
    replacement: '',
    test: 'test/processor/recovery/high_water',
  },
  {
    fault: 'A mark that is ahead of the books is overwritten.',
    file: 'src/processor/recovery/high_water.ts',
    text: 'if (found !== undefined && isAhead(found, progress)) return\n',
    replacement: '',
    test: 'test/processor/recovery/high_water',
  },
  {
    fault: 'A source whose mark cannot be compared is used.',
    file: 'src/processor/recovery/admission.ts',
    text: "log.error({ error, source }, 'failed to check a mark')\n      return 'rejected'",
    replacement: "log.error({ error, source }, 'failed to check a mark')\n      return 'unmarked'",
    test: 'test/processor/recovery/verification',
  },
  {
    fault: 'A source is used before the others are judged.',
    file: 'src/processor/recovery/admission.ts',
    text: 'await begun\n',
    replacement: '',
    test: 'test/processor/recovery/verification',
  },
  {
    fault: 'The mark is written before its commit.',
    file: 'src/processor/background/recovery.ts',
    text: 'await books.commit(batch)\n',
    replacement:
      'const done = books.commit(batch); highWater.committed(books.marks.progress())\n' +
      'await done\n',
    test: 'test/processor/recovery/verification',
  },
  {
    fault: 'The mark is one batch ahead.',
    file: 'src/processor/background/recovery.ts',
    text: 'isActive && isVerified) highWater.committed(books.marks.progress())',
    replacement:
      'isActive && isVerified) {\n' +
      'const now = books.marks.progress()\n' +
      'highWater.committed({ ...now, lastBatch: now.lastBatch + 1 })\n}',
    test: 'test/processor/recovery/verification',
  },
]
