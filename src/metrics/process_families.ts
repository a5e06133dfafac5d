/** Families of every process, and those of the supervisor. */
import { counter, gauge, histogram, SHORT_SECONDS, type Families } from './family.js'

export const PROCESS_FAMILIES = {
  causeway_build_info: gauge('1; the version that runs', 'version'),
  causeway_event_loop_lag_seconds: histogram(
    SHORT_SECONDS,
    'How much later than planned a timer of 50 ms fired',
  ),
  causeway_process_cpu_seconds_total: counter('CPU time of the process, user and system'),
  causeway_process_resident_memory_bytes: gauge('Resident memory'),
  causeway_process_heap_bytes: gauge('Used heap of V8'),
  causeway_process_open_fds: gauge('Open file descriptors'),
  causeway_process_start_time_seconds: gauge('Start of the process, in seconds since 1970'),
  causeway_metric_read_failures_total: counter(
    'Families that could not be read in a scrape and were left out of it',
    'metric',
  ),
} as const satisfies Families

/** Each process names itself in its label `process`. */
export const SUPERVISOR_FAMILIES = {
  causeway_process_up: gauge('1 while a process of the stack is ready', 'process'),
  causeway_process_restarts_total: counter('Restarts of a process', 'process'),
  causeway_process_pid: gauge('Process id while a process of the stack runs', 'process'),
  causeway_server_info: gauge(
    '1; the version of a server of others that the stack runs: nats-server, PostgreSQL',
    'process',
    'version',
  ),
  causeway_server_start_time_seconds: gauge(
    'Start of such a server, in seconds since 1970',
    'process',
  ),
  causeway_integrity_failed: gauge('1 when a database failed its integrity check'),
} as const satisfies Families

/** The console of operators. */
export const CONSOLE_FAMILIES = {
  causeway_console_page_duration_seconds: histogram(
    SHORT_SECONDS,
    'Time until a page is made, by the pattern of its path',
    'page',
  ),
  causeway_console_sessions: gauge('Operators who are signed in'),
} as const satisfies Families

/** The adapter of an ISO 20022 network. */
export const ADAPTER_FAMILIES = {
  causeway_rail_notices_total: counter(
    'What an operator must look at: faults of a network or of its messages',
    'notice',
  ),
} as const satisfies Families

/** Each process that makes spans, where OTLP_URL is set. */
export const TRACE_FAMILIES = {
  causeway_trace_spans_total: counter('Spans that were recorded'),
  causeway_trace_spans_dropped_total: counter(
    'Spans that the collector did not get: queue_full or not_taken',
    'reason',
  ),
} as const satisfies Families

/** Each process with a database file, and the supervisor: their file systems can differ. */
export const DISK_FAMILIES = {
  causeway_disk_free_bytes: gauge('Free bytes on the file system of DATA_DIR'),
} as const satisfies Families

/** A processor rejects writes, and the supervisor shows it. */
export const DISK_RESERVE_FAMILIES = {
  causeway_disk_low: gauge('1 while less than DISK_RESERVE_MB is free and writes are rejected'),
} as const satisfies Families

/** Each process that has certificates. */
export const CERTIFICATE_FAMILIES = {
  causeway_certificate_expiry_time_seconds: gauge(
    'When the first certificate of the file ends, in seconds since 1970; 0: it cannot be read',
    'certificate',
  ),
} as const satisfies Families

/** Each process with a database file has them. */
export const STORE_FILE_FAMILIES = {
  causeway_store_file_bytes: gauge('Size of the database file'),
  causeway_store_wal_bytes: gauge('Size of the write-ahead log beside the database file'),
} as const satisfies Families
