/** Faults of the area `postgres`: fence, lease, ownership, server. */
import { faultsIn, type Mutant } from '../mutant.js'

export const POSTGRES: readonly Mutant[] = [
  ...faultsIn('src/store/postgres/commit_function.ts', 'postgres/store/postgres', {
    'The fence does not look at the number of the batch.': [
      'WHERE epoch = p_epoch AND last_batch = p_batch - 1;',
      'WHERE epoch = p_epoch;',
    ],
    'The fence lets a batch pass that is committed already.': [
      'last_batch = p_batch - 1;',
      'last_batch >= p_batch - 1;',
    ],
    'The fence does not look at the epoch.': [
      'WHERE epoch = p_epoch AND last_batch = p_batch - 1;',
      'WHERE last_batch = p_batch - 1;',
    ],
  }),
  ...faultsIn('src/store/postgres/ownership.ts', 'postgres/store/postgres', {
    'A deposed owner takes its commit for a failed one.': [
      'code === FENCED ? new Deposed(DEPOSED) : error',
      'code === FENCED ? error : error',
    ],
    'A commit with a warning of the server counts as done.': [
      'if (code === WARNING) fail(',
      "if (code === 'none') fail(",
    ],
    'A read does not look whether this process still owns the books.': [
      'await ask(() => checkOwnership(connection, owned.epoch))',
      'await Promise.resolve()',
    ],
    'A former primary answers reads for ever.': [
      'if (elapsed() - confirmedAt >= READS_WITHIN_MS) await heartbeat()',
      '',
    ],
    'The answer, and not the sending, of a write bounds the reads after it.': [
      'confirmedAt = sentAt',
      'confirmedAt = Math.max(sentAt, elapsed())',
    ],
    'A server without an answer keeps the owner waiting for ever.': [
      'if (late.overdueSince() === since) fail(new NoAnswer(late.withinMs))',
      '',
    ],
  }),
  ...faultsIn('src/store/postgres/lease.ts', 'postgres/store/postgres', {
    'A take-over does not look at the heartbeat that was read.': [
      'WHERE epoch = ? AND beat = ? RETURNING',
      'WHERE epoch = ? AND ? >= 0 RETURNING',
    ],
    'A take-over does not look at the epoch that was read.': [
      'WHERE epoch = ? AND beat = ? RETURNING',
      'WHERE ? >= 0 AND beat = ? RETURNING',
    ],
    'A take-over keeps the epoch.': [
      'SET epoch = epoch + 1, holder = ?',
      'SET epoch = epoch + 0, holder = ?',
    ],
    'A process of a copied data directory takes the books of the one that serves.': [
      'return isSessionOf(holder, found?.name)',
      'return false',
    ],
    'The session of another process that got the same process id is ended.': [
      'WHERE pid = ? AND application_name = ?`',
      "WHERE pid = ? AND application_name <> coalesce(?, '')`",
    ],
    'A former owner releases the lease of the next one.': [
      "SET holder = '' WHERE epoch = ?",
      "SET holder = '' WHERE epoch >= ?",
    ],
    'A former owner raises the epoch of the next one.': [
      '+ 1 WHERE epoch = ? RETURNING',
      '+ 1 WHERE epoch >= ? RETURNING',
    ],
    'A raise of the epoch stays below the one that it must pass.': [
      'greatest(epoch, ?::bigint) + 1',
      'least(epoch, ?::bigint) + 1',
    ],
  }),
  ...faultsIn('src/store/postgres/timelines.ts', 'store/server_state', {
    'After a promotion a former primary replaces the newer timeline.': [
      'newest?.system === system && newest.timeline >= timeline',
      'newest?.system === system && newest.timeline === timeline',
    ],
    'A recovery keeps the timeline that it must ignore.': [
      'isIgnored ? undefined : readTimeline(path)',
      'readTimeline(path)',
    ],
  }),
  ...faultsIn('src/store/postgres/synchrony.ts', 'store/server_state', {
    'Commits that wait for the memory of a standby only count as synchronous.': [
      "commit === 'on' || commit === 'remote_apply'",
      "commit !== 'off' && commit !== 'local'",
    ],
    'A server without names of standbys counts as synchronous.': [
      "if (names.trim() === '') return",
      "if (names.trim() === '-') return",
    ],
  }),
  ...faultsIn('src/store/postgres/server_clock.ts', 'store/server_state', {
    'A slow answer of the server counts as a wrong clock.': [
      'return at > after ? after - at : 0',
      'return before - at',
    ],
  }),
  ...faultsIn('src/processor/cluster/join.ts', 'integration/clocks', {
    'A candidate whose take-over waits opens a second server for gateways.': [
      '(waiting ??= options.onWaiting(name, cluster))',
      'options.onWaiting(name, cluster)',
    ],
  }),
  ...faultsIn('src/store/postgres/lease_watch.ts', 'store/lease_watch', {
    'A candidate does not wait until a lease is old.': [
      'if (now - unchangedSince >= LEASE_TIMEOUT_MS) return true',
      'if (now >= unchangedSince) return true',
    ],
    'A heartbeat does not renew a lease.': [
      'const state = `${epoch} ${beat} ${holder}`',
      'const state = `${epoch} ${beat - beat} ${holder}`',
    ],
    'A shard that moves is taken by another processor than the one that it moves to.': [
      'moveTo === null ? epoch > 0 || !isSpare : moveTo === name',
      'moveTo === null ? epoch > 0 || !isSpare : moveTo !== undefined',
    ],
    'A session that was never seen open counts as ended.': [
      'else if (openIn === epoch) disconnectedSince ??= now',
      'else disconnectedSince ??= now',
    ],
    'An ended owner gets no time to restart.': [
      'now - disconnectedSince >= RESTART_WITHIN_MS',
      'now >= disconnectedSince',
    ],
    'A copied data directory is the place of the first one with an open session.': [
      'isSameFolder(holder, own) && !isConnected',
      'isSameFolder(holder, own)',
    ],
  }),
  ...faultsIn('src/store/postgres/answers.ts', 'store/answers', {
    'An answer forgets the statement that was sent last.': [
      'unanswered.shift()',
      'unanswered.pop()',
    ],
  }),
  ...faultsIn('src/store/cluster/partner_transfer.ts', 'store/partner_transfer', {
    'A move copies nonces that are there already.': [
      '(${usable(from)} EXCEPT ${usable(to)})',
      '(${usable(from)})',
    ],
    'A move leaves the nonces behind.': [
      'await copyNonces(connection, move)',
      'await Promise.resolve()',
    ],
    'A server that ends rests in transactions ends a move that has begun.': [
      'SET LOCAL idle_in_transaction_session_timeout = ${HELD_WITHIN_MS}',
      '',
    ],
  }),
  ...faultsIn('src/store/cluster/partner_numbers.ts', 'store/partner_numbers', {
    'A move adds all numbers of its shard to those of the other one.': [
      'target[kind] + MARGINS[kind] - below[kind]',
      'target[kind] + MARGINS[kind]',
    ],
    'A posting can get a lower number in the other shard.': [
      'Math.max(shifts.posting, 1)',
      'shifts.posting',
    ],
  }),
  ...faultsIn('src/store/cluster/partner_fingerprints.ts', 'store/partner_copy', {
    'A link to an intent that is gone names one of another partner.': [
      'CASE WHEN ${before} > ${below}',
      'CASE WHEN ${before} > 0',
    ],
  }),
  ...faultsIn('src/processor/cluster/partner_move.ts', 'processor/partner_move', {
    'A move for which the server has no session ends the owner.': [
      'await giveUp(move, `the owner of ${shard} gets no session: ${String(error)}`)',
      'throw error',
    ],
  }),
  ...faultsIn('src/processor/cluster/step_scale.ts', 'processor/step_scale', {
    'Nearly every step of a large move has a size of its own.': [
      '2 ** (Math.floor(2 * Math.log2(scale)) / 2)',
      'scale',
    ],
  }),
  ...faultsIn('src/store/postgres/copy.ts', 'store/postgres_copy', {
    'A server that ends rests in transactions ends an export.': [
      "SET LOCAL idle_in_transaction_session_timeout = '10min'",
      'SET LOCAL jit = off',
    ],
    'The tables of an export are of different moments.': ['ISOLATION LEVEL REPEATABLE READ ', ''],
    'Rows after a copy get the numbers of copied ones.': [
      'coalesce(max(${column}), 0) + 1 FROM',
      'coalesce(min(${column}), 0) FROM',
    ],
  }),
  ...faultsIn('src/store/postgres/commit.ts', 'store/postgres_contract', {
    'A quote that bought something is deleted.': [
      'conversion IS NULL AND expires_at',
      'expires_at',
    ],
  }),
  ...faultsIn('src/store/postgres/migrate.ts', 'store/postgres_migrate', {
    'Commits wait for a migration that waits for a snapshot.': [
      "SET LOCAL lock_timeout = '${LOCKS_WITHIN}'",
      '',
    ],
  }),
  ...faultsIn('src/store/postgres/owned_schema.ts', 'postgres/store/postgres', {
    'A candidate takes over with a reader whose session has ended.': ['ends.check()', ''],
    'The books are loaded as they were before the take-over.': [
      'await writer.exec(BY_INDEX)\n',
      'await writer.exec(BY_INDEX)\n' +
        "await readers[opened[0]![0]].exec('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')\n",
    ],
  }),
  ...faultsIn('src/store/postgres/connection.ts', 'postgres/store/postgres', {
    'A role without warnings hides a cancelled wait for the standby.': [
      "'client_min_messages=warning', ",
      '',
    ],
  }),
  ...faultsIn('src/store/postgres/connection.ts', 'store/postgres_server', {
    'A session has the idle timeout of its database.': [", 'idle_session_timeout=0'", ''],
    'A connection pooler is taken for a server.': [
      'processID === session) return null',
      'processID !== undefined) return null',
    ],
  }),
]
