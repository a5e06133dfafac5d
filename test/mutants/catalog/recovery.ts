/** Faults of the area `recovery`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const RECOVERY: readonly Mutant[] = [
  ...faultsIn('src/processor/background/recovery.ts', 'processor/recovery/former_mark', {
    'A release on PostgreSQL begins an epoch below those of lost owners.': [
      '? 0 : epochsBegunBy(clock.now())',
      '? 0 : -epochsBegunBy(clock.now())',
    ],
    'Books from a release that was cut short pass each later mark.': [
      'found.epoch > acceptsUntil',
      'found.epoch > Infinity',
    ],
  }),
  ...faultsIn('src/processor/cycle/pipeline.ts', 'processor/recovery/recovery_mode', {
    'Recovery mode accepts writes.': [
      'if (isReadOnly(memory) && work',
      'if (memory === null && work',
    ],
  }),
  ...faultsIn('src/processor/changes/orphans.ts', 'processor/recovery/orphan_payouts', {
    'A payment equal to an orphan execution is not held.': [
      'return [...found.same, ...found.cut]\n',
      'return NONE\n',
    ],
    'A payment of the same reference and another amount is not held.': [
      'of new Set([...equal, ...named])',
      'of equal',
    ],
    'A payment is approved beside an equal orphan that the approval does not name.': [
      'if (orphans.open > 0) for (const',
      'if (orphans.open < 0) for (const',
    ],
    'A payment is approved though its orphan was matched to another one.': [
      "known.status !== 'resolved' && holdsPayments(known)",
      "known.status === 'open' && holdsPayments(known)",
    ],
    'An operator may match an execution to a payment to another account.': [
      'isDestination(orphan, digestsOf(vault, payment.account()))\n',
      'true\n',
    ],
    'A payment is not held when the bank has cut its reference.': [
      'shorter.length >= CUT_LENGTH_MIN && longer',
      'shorter.length >= 1_000 && longer',
    ],
    'The destination of an orphan is not compared.': [
      'isEqual(orphan.purpose, purpose) &&\n      isDestination(orphan, digests)\n',
      'isEqual(orphan.purpose, purpose)\n',
    ],
  }),
  ...faultsIn(
    'src/processor/commands/operators/orphan_compare.ts',
    'processor/recovery/orphan_intents',
    {
      'An intent that lost books had submitted fails at its deadline.': [
        'const own = ownExecution(ctx, id)',
        'const own = ownExecution(ctx, `${id} `)',
      ],
    },
  ),
  ...faultsIn(
    'src/processor/commands/payouts/payout_review.ts',
    'processor/recovery/orphan_payouts',
    {
      'A payout that the rail has executed under its id is rejected.': [
        'if (executed !== null) return executed',
        '',
      ],
    },
  ),
  ...faultsIn(
    'src/processor/commands/operators/orphan_resolve.ts',
    'processor/recovery/orphan_payouts',
    {
      'A payment is matched to the execution of another payment of these books.': [
        'if (isOfOther || (pay',
        'if (pay?.tenant === null || (pay',
      ],
      'An execution pays a payment that has an execution of its own.': [
        'if (ownExecution(ctx, paymentId) !== undefined) return true',
        '',
      ],
    },
  ),
  ...faultsIn(
    'src/processor/commands/operators/orphan_add.ts',
    'processor/recovery/recovery_mode',
    {
      'A payment that the bank has returned stays paid after a restore.': [
        "if (each.state !== 'accepted') inquireIfDifferent(ctx, each)",
        '',
      ],
    },
  ),
  ...faultsIn('actors/submission.ts', 'processor/recovery/recovery_mode', {
    'An old payment that a statement contradicts is inquired about once.': [
      'const since = dueAt === inquiredSince ? at : inquiredSince',
      'const since = inquiredSince',
    ],
  }),
  ...faultsIn('src/processor/changes/rail_instructions.ts', 'processor/recovery/orphan_intents', {
    'The recall of a matched payment whose rail is not known goes to that of its route.': [
      'if (isUnlocated(ctx, context)) return sendQuery(ctx, context)\n',
      '',
    ],
    'The recall of a matched payment names its own id.': [
      '(memory.orphans.matchedTo(id)?.instruction ?? id) as EffectId',
      '(memory.orphans.matchedTo(`${id} `)?.instruction ?? id) as EffectId',
    ],
  }),
  ...faultsIn(
    'src/processor/commands/rail_reports/rail_report_apply.ts',
    'processor/recovery/orphan_payouts',
    {
      'The return of a matched execution does not reach its payment.': [
        'orphans.get(id)?.matched_to ?? id',
        'orphans.get(`${id} `)?.matched_to ?? id',
      ],
      'The end of an accepted instruction that another shard sent is dropped.': [
        "(orphan !== undefined && orphan.status !== 'resolved')",
        "orphan?.status === 'matched'",
      ],
      'A pause of submissions ends the review of a held payment.': [
        'payment.isPaused() && !payment.isHeld',
        'payment.isPaused()',
      ],
    },
  ),
  ...faultsIn('src/reconciliation/reconcile.ts', 'reconciliation/reconcile', {
    'A reconciliation ends before all of its findings are written.': [
      "if (finding.status !== 'matched') await onFinding(finding)",
      "if (finding.status !== 'matched') void onFinding(finding)",
    ],
  }),
  ...faultsIn('src/reconciliation/statement.ts', 'reconciliation/statement', {
    'The last amount of a statement that was cut is read.': [
      'isOpenEnded: isLast && !',
      'isOpenEnded: !isLast && !',
    ],
    'An amount ends at its comma.': ["text.trim() !== ''", "text.trim() === ','"],
  }),
  ...faultsIn(
    'src/processor/commands/rail_reports/rail_report_apply.ts',
    'processor/recovery/orphan_intents',
    {
      'A matched payment stays on the rail of its route.': [
        'if (isLocated) locate(ctx, report, payment, rail)',
        '',
      ],
      'A rail that does not have an orphan execution answers for the one that has.': [
        'return isElsewhere && !hasIt(report)',
        'return isElsewhere && report === null',
      ],
    },
  ),
  ...faultsIn('src/base/csv.ts', 'reconciliation/statement', {
    'A reference that looks escaped is read as another one.': ["/^'*[=+", '/^[=+'],
  }),
  ...faultsIn('src/store/rail_movements.ts', 'processor/accounting', {
    'The booking of a matched execution is not that of its line in the statement.': [
      'coalesce(d.entity, (${MATCHED}), e.entity)',
      'coalesce(d.entity, e.entity)',
    ],
  }),
  ...faultsIn(
    'src/processor/commands/operators/recovery_release.ts',
    'processor/recovery/recovery_mode',
    {
      'The event numbers of a copy that is restored again are used twice.': [
        'SKIPPED_POSITIONS + SKIPPED_PER_MS * Math.max(0, now - copyEndsAt)',
        'SKIPPED_POSITIONS + SKIPPED_PER_MS * Math.min(0, copyEndsAt)',
      ],
      'A release with a clock that is decades off uses up the numbers.': [
        'Math.floor((NUMBER_MAX - last) / 2)',
        'Number.MAX_VALUE',
      ],
    },
  ),
  ...faultsIn('src/processor/cache/memory.ts', 'processor/recovery/recovery_mode', {
    'Two releases in a row both count the age of the copy.': [
      '[newestEventAt, newestPostingAt, ...releasedAt].filter',
      '[newestEventAt, newestPostingAt].filter',
    ],
    'Postings after a restore have the numbers of lost ones.': [
      'at > (newestPostingAt ?? 0)',
      'at < (newestPostingAt ?? 0)',
    ],
  }),
  ...faultsIn('src/backup/restore.ts', 'backup/backup', {
    'Books are restored that the disk has written otherwise.': [
      'if ((await digestOf(draft)) !== file.sha256) {',
      'if ((await digestOf(join(folder, file.name))) === draft) {',
    ],
    'The mark that begins recovery mode follows the books.': [
      '  markRestored(dataDir, manifest)\n' +
        '  for (const file of files)\n' +
        '    if (!isKey(file) && !isBooks(file)) await restoreFile(folder, dataDir, file)\n' +
        '  for (const file of files.filter(isBooks)) await restoreFile(folder, dataDir, file)\n',
      '  for (const file of files)\n' +
        '    if (!isKey(file)) await restoreFile(folder, dataDir, file)\n' +
        '  markRestored(dataDir, manifest)\n',
    ],
    'Books are restored before the other files.': [
      'if (!isKey(file) && !isBooks(file)) await restoreFile(folder, dataDir, file)\n  for',
      'if (isBooks(file)) await restoreFile(folder, dataDir, file)\n  for',
    ],
  }),
  ...faultsIn('src/backup/backups.ts', 'backup/backup', {
    'The backups of other books are removed as old ones.': [
      'manifest.books.id === newest.booksId',
      "newest.booksId !== ''",
    ],
    'A backup that was made while the clock was ahead replaces the later ones.': [
      'folder > newest.folder',
      "folder === ''",
    ],
  }),
  ...faultsIn('src/store/sqlite/database.ts', 'store/sqlite_file', {
    'The WAL of another file is applied to the copy of a backup.': [
      '&& !isInWalMode(file)',
      "&& file === ''",
    ],
  }),
  ...faultsIn('src/store/progress.ts', 'processor/recovery/marks', {
    'A lost event that no source named at the release counts as lost since.': [
      'FROM recoveries WHERE released_at >= ?2',
      'FROM recoveries WHERE released_at < 0 AND released_at >= ?2',
    ],
    'Events after a release count as accepted losses.': [
      'FROM recoveries WHERE released_at >= ?2',
      'FROM recoveries WHERE ?2 > 0',
    ],
  }),
  ...faultsIn('src/processor/recovery/marks.ts', 'processor/recovery/marks', {
    'Books without an event of the bus are served.': [
      'if (await books.hasEvent(id)) return null',
      "if (id !== '') return null",
    ],
    'Books without an instruction of the rail are served.': [
      'if (await books.hasInstruction(id)) return null',
      "if (id !== '') return null",
    ],
    'An event of the future is a mark.': [
      'if (at <= plus(clock.now(), CLOCK_TOLERANCE_MS)) return null',
      'if (at > 0) return null',
    ],
  }),
  ...faultsIn('src/processor/recovery/high_water.ts', 'processor/recovery/marks', {
    'Other books are taken for these.': ['mark.booksId !== books.booksId || mark', 'mark'],
    'An older epoch is not noticed.': ['if (mark.epoch > epoch) return true', ''],
    'Commits of a new owner make up for those that were lost.': [
      '(books.lastBatchBefore ?? books.lastBatch)',
      'books.lastBatch',
    ],
    'A mark that is ahead of the books is overwritten.': [
      'if (found !== undefined && isAhead(found, progress)) return\n',
      '',
    ],
  }),
  ...faultsIn('src/processor/recovery/admission.ts', 'processor/recovery/verification', {
    'A source whose mark cannot be compared is used.': [
      "log.error({ error, source }, 'failed to check a mark')\n      return 'rejected'",
      "log.error({ error, source }, 'failed to check a mark')\n      return 'unmarked'",
    ],
    'A source is used before the others are judged.': ['await begun\n', ''],
  }),
  ...faultsIn('src/processor/background/recovery.ts', 'processor/recovery/verification', {
    'A rail is linked before the books are verified, and its reports are lost.': [
      'return isAdmitted && isVerified',
      'return isAdmitted',
    ],
    'The mark is written before its commit.': [
      'await books.commit(batch)\n',
      'const done = books.commit(batch); highWater.committed(books.marks.progress())\n' +
        'await done\n',
    ],
    'Books that are behind a gateway answer until the process has ended.': [
      'await books.commit(batch)\n        if (isBehindGateway) await NEVER\n',
      'await books.commit(batch)\n',
    ],
    'The mark is one batch ahead.': [
      'isActive && isVerified) highWater.committed(books.marks.progress())',
      'isActive && isVerified) {\n' +
        'const now = books.marks.progress()\n' +
        'highWater.committed({ ...now, lastBatch: now.lastBatch + 1 })\n}',
    ],
  }),
  ...faultsIn('src/operations/payments/other_shards.ts', 'operations/several_processors', {
    'A payment of another shard, on its way at the rail, becomes an orphan execution.': [
      'if (answers[index] === true) found.add(id)',
      'if (answers[index] === null) found.add(id)',
    ],
  }),
  ...faultsIn('src/operations/calls/calls_to_shards.ts', 'operations/several_processors', {
    'An orphan execution that is decided on in one shard stays open in the others.': [
      'return elsewhere === undefined',
      'return elsewhere !== null',
    ],
    'A match that was interrupted cannot be repeated where another shard has dismissed it.': [
      "  code === 'orphan_execution_resolved' ||\n",
      '',
    ],
  }),
]
