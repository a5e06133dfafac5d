/** Families of a processor about its work: commands, commits, rail, bus, books. */
import {
  counter,
  COUNTS,
  gauge,
  histogram,
  LONG_SECONDS,
  SECONDS,
  SHORT_SECONDS,
} from './family.js'
import type { Families } from './family.js'

export const PIPELINE_FAMILIES = {
  causeway_commands_total: counter('Commands decided'),
  causeway_commands_rejected_total: counter(
    'Commands that were not decided: `queue_full`, `deadline`, `disk_low`, `settings_fault`, ' +
      '`recovery` or `unverified`',
    'reason',
  ),
  causeway_command_refusals_total: counter(
    'Commands refused with an error code; limits are `user_limit_exceeded` and ' +
      '`payout_limit_exceeded`',
    ...(['command', 'code'] as const),
  ),
  causeway_qr_refusals_total: counter('Scanned codes that were refused, by the rule', 'reason'),
  causeway_commands_waiting: gauge('Commands in the queue'),
  causeway_command_queue_wait_seconds: histogram(
    SHORT_SECONDS,
    'Time from the arrival of a command to its decision',
  ),
  causeway_commits_total: counter('Batches committed, one fsync each'),
  causeway_commit_duration_seconds: histogram(SHORT_SECONDS, 'Time until a batch is on disk'),
  causeway_commit_batch_commands: histogram(COUNTS, 'Commands answered by a commit'),
  causeway_cached_payments: gauge('Payments in memory', 'entity'),
  causeway_nonces: gauge('Nonces held in memory'),
} as const satisfies Families

/** Calls of internal services, operators and our own processes. */
export const GRPC_FAMILIES = {
  causeway_grpc_calls_total: counter(
    'Ended calls by their gRPC status; `CANCELLED`: the caller left before',
    ...(['service', 'method', 'code'] as const),
  ),
  causeway_grpc_call_duration_seconds: histogram(
    SECONDS,
    'Time from the beginning of a call to its end, but for streams',
    ...(['service', 'method'] as const),
  ),
} as const satisfies Families

export const BOOKS_FAMILIES = {
  causeway_backup_age_seconds: gauge(
    'Age of the newest backup; +Inf when there is none. Absent with PostgreSQL where none was made',
  ),
  causeway_expired_rows_total: counter(
    'Rows deleted when their retention had ended: `events`, `idempotency_keys`, `requests`',
    'rows',
  ),
  causeway_recovery_mode: gauge('1 in recovery mode: writes are refused'),
  causeway_submissions_stopped: gauge('1 while nothing is submitted to the rail'),
  causeway_books_unverified: gauge('1 while writes wait for a word of the rail or the bus'),
  causeway_marks_refused_total: counter('Marks of the bus or a webhook pool that cannot exist'),
  causeway_orphan_executions: gauge('Open orphan executions'),
  causeway_corrupt_actors: gauge('Actors with a corrupt snapshot'),
  causeway_corrupt_rows: gauge('Corrupt rows found since the start'),
  causeway_store_damaged: gauge('1 since a read of the books has met a damaged part of them'),
  causeway_store_checkpoints_total: counter('Checkpoints of the write-ahead log; SQLite'),
  causeway_store_synchronous: gauge(
    '1 while commits wait for a standby, 0 while answered requests are on one server only; ' +
      'PostgreSQL',
  ),
  causeway_store_synchronous_standbys: gauge(
    'Connected synchronous standbys; absent without the role pg_monitor; PostgreSQL',
  ),
  causeway_clock_ahead_seconds: gauge(
    "Seconds by which the books, and so decisions, are ahead of this machine's clock",
  ),
  causeway_clock_offset_seconds: gauge(
    "This machine's clock minus the database server's; absent before the first reading; PostgreSQL",
  ),
} as const satisfies Families

/** As of some seconds ago. Every owner of a shard reports its server. */
export const POSTGRES_FAMILIES = {
  causeway_postgres_connections: gauge('Connections to all databases of the server'),
  causeway_postgres_connections_max: gauge('Connections that the server accepts'),
  causeway_postgres_database_bytes: gauge('Size of the database'),
  causeway_postgres_oldest_transaction_seconds: gauge(
    'Age of the oldest transaction in the database; those of other roles only with pg_monitor',
  ),
  causeway_postgres_deadlocks_total: counter('Deadlocks in the database'),
  causeway_postgres_checkpoints_total: counter(
    'Checkpoints of the server: `timed`, or `requested` because much was written',
    'cause',
  ),
  causeway_postgres_replay_lag_seconds: gauge(
    'Time until a standby has replayed a commit; absent without the role pg_monitor, and at rest',
    'standby',
  ),
} as const satisfies Families

export const RAIL_FAMILIES = {
  causeway_rail_up: gauge('1 while the link to the rail is up', 'rail'),
  causeway_rail_down_seconds: gauge(
    'Time since the link to the rail was lost or submissions were stopped; 0 while it is up',
    'rail',
  ),
  causeway_rail_instructions_total: counter(
    'Messages to the rail: `instruct`, `query`, `recall`, `acknowledge`, `simulate`',
    ...(['rail', 'kind'] as const),
  ),
  causeway_rail_reports_total: counter(
    'Reports of the rail, repeated ones included',
    ...(['rail', 'status'] as const),
  ),
  causeway_rail_outcome_duration_seconds: histogram(
    LONG_SECONDS,
    'Time from the submission of a payment to its final outcome',
    ...(['rail', 'outcome'] as const),
  ),
  causeway_rail_unnamed_payments: gauge(
    'Open payments on a rail that RAILS_FILE does not name, for which they wait; read every 15 s',
    'rail',
  ),
  causeway_submissions_paused: gauge(
    '1 while an operator has paused the submissions of a rail, a corridor or an environment',
    ...(['scope', 'target'] as const),
  ),
  causeway_route_not_carried: gauge(
    '1 for a route without new payments: RAILS_FILE does not give it to the rail chosen for it',
    ...(['route', 'rail'] as const),
  ),
  causeway_timers_waiting_for_rail: gauge(
    'Payments whose next instruction or inquiry waits for the rail',
  ),
} as const satisfies Families

export const SCREENING_FAMILIES = {
  causeway_screening_duration_seconds: histogram(
    SHORT_SECONDS,
    'Time until the screening service has answered: `pass`, `compliance_rejected` or ' +
      '`risk_rejected`; without an answer `late`, `error` or `malformed`; `full`: not asked',
    ...(['purpose', 'outcome'] as const),
  ),
} as const satisfies Families

/** A processor and a webhook pool have a link each. */
export const BUS_LINK_FAMILIES = {
  causeway_bus_up: gauge('1 while the link to the bus works'),
} as const satisfies Families

export const BUS_FAMILIES = {
  causeway_bus_published_total: counter(
    'Events sent to the bus: `stored`, or `unknown` and sent again',
    'outcome',
  ),
  causeway_events_total: counter(
    'Committed events: `no` without an endpoint that subscribes to them, so not delivered',
    'subscribed',
  ),
  causeway_relay_backlog: gauge('Events in memory that the bus has not accepted'),
  causeway_relay_catching_up: gauge('1 while events are published from the outbox'),
  causeway_outbox_oldest_age_seconds: gauge(
    'Age of the oldest event without a recorded outcome of its deliveries; read every 15 s',
  ),
} as const satisfies Families

export const SHARD_FAMILIES = {
  causeway_shard_epoch: gauge(
    'Epoch of the shard that this processor owns; each take-over raises it',
    ...(['shard', 'owner'] as const),
  ),
  causeway_shard_owned: gauge('1 while the owner of a shard is connected', 'shard'),
  causeway_shard_candidates: gauge('Processors that wait and can take the shard over', 'shard'),
  causeway_shard_gateways: gauge('Gateways that are connected to the owner of a shard', 'shard'),
  causeway_shard_unreached: gauge(
    '1 while no gateway reaches the owner of a shard, and one reaches a processor that waits',
    'shard',
  ),
  causeway_shard_moves_total: counter('Completed moves of a shard', 'shard'),
  causeway_shard_settings_behind: gauge(
    'Settings for all shards that the books of a shard have not applied',
    'shard',
  ),
  causeway_shard_settings_fault: gauge(
    '1 while the owner of a shard cannot apply a setting for all shards, and takes no writes',
    'shard',
  ),
  causeway_standby_lag_bytes: gauge('WAL that the slowest standby has not replayed', 'shard'),
} as const satisfies Families
