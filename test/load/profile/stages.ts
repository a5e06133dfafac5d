/**
 * What a program's time goes to: its stages, and which code each of them is.
 *
 * Owns: the table. Does not own: how it is applied (attribution).
 *
 * A place is a file or folder of the tree, or a part of it with `#function`. The most exact one
 * counts: a file's function, the file, its folder's function, the folder, and so on upwards.
 * `CALLER` says that a place works for whoever calls it.
 */

export const IDLE = 'idle'
export const OTHER = 'other'
/** See cpu_profile, P1. */
export const UNSEEN = 'unseen'
export const CALLER = 'caller'

export interface ProgramStages {
  /** Undefined: it is of its caller's. */
  ours(place: string, functionName: string): string | undefined
  /** Where nothing of ours has called. @param caller the same of who called */
  library(place: string, functionName: string, caller: string): string
}

type Table = Readonly<Record<string, string>>

const COLLECTION = 'garbage collection'
/** Also what has no caller at all. */
export const ENGINE = 'engine and system'
const GRPC = 'gRPC and HTTP/2'
const LOOP = 'event loop of Node'
const DRIVER = 'SQLite driver'
const METRICS = 'metrics'

/** The engine's own frames have no place. */
const ENGINES: Table = {
  '(idle)': IDLE,
  '(garbage collector)': COLLECTION,
  '(program)': ENGINE,
}

/** A library's own stage even if we have called it: both are called by gRPC as often. */
const CODECS: Table = {
  'node_modules/@grpc/proto-loader#serialize': 'protobuf writer',
  'node_modules/@grpc/proto-loader#deserialize': 'protobuf reader',
}

/** Run from the event loop, without a caller of ours. */
const LIBRARIES: Table = {
  'node_modules/@grpc': GRPC,
  'node:internal/http2': GRPC,
  'node_modules/nats': 'NATS client',
  'node_modules/undici': 'HTTP client',
  'node_modules/sqlite3': DRIVER,
  'src/store/database.ts': DRIVER,
  'node_modules/prom-client': METRICS,
  node_modules: OTHER,
}

export const COMMON: Table = {
  'src/store/database.ts': CALLER,
  'src/store/database.ts#run': 'commit submission',
  'src/base': CALLER,
  'src/money': CALLER,
  'src/base/log.ts': 'log',
  'src/base/child.ts': METRICS,
  'test/load/profile': 'the recorder',
}

const GATEWAY: Table = {
  'gateway/http/server.ts': 'head',
  'gateway/http/server.ts#receiveBody': 'body',
  'gateway/http/server.ts#serve': 'route and submission',
  'gateway/http/head.ts': 'head',
  'gateway/http/head.ts#header': CALLER,
  'gateway/http/body.ts': 'body',
  'gateway/http/request_context.ts': 'head',
  'gateway/http/request_context.ts#refuse': 'answer',
  'gateway/http/request_context.ts#answer': 'answer',
  'gateway/http/request_context.ts#write': 'answer',
  'gateway/http/request_context.ts#leave': 'answer',
  'gateway/http/request_context.ts#receive': 'body',
  'gateway/http/request_context.ts#attempt': CALLER,
  'gateway/http/request_context.ts#header': CALLER,
  'gateway/http/request_context.ts#peer': CALLER,
  'gateway/routing/route.ts': 'route and submission',
  'gateway/app.ts': 'route and submission',
  'gateway/upstream/request_handler.ts': 'route and submission',
  'gateway/upstream/request_handler.ts#settle': 'answer',
  'gateway/upstream/request_handler.ts#accepted': 'answer',
  'gateway/http/deadlines.ts': 'deadlines',
  'gateway/admission/limits.ts': 'limits and authenticate',
  'gateway/admission/load_shedder.ts': 'limits and authenticate',
  'gateway/admission/request_scheduler.ts': 'limits and authenticate',
  'gateway/admission/traffic_class.ts': 'limits and authenticate',
  'gateway/admission/rate_limit.ts': 'limits and authenticate',
  'gateway/authentication/ip_allowlist.ts': 'limits and authenticate',
  'gateway/authentication/client_address.ts': 'limits and authenticate',
  'gateway/routing/hosts.ts': 'limits and authenticate',
  'gateway/http/headers.ts': 'limits and authenticate',
  'gateway/authentication/authenticate.ts': 'limits and authenticate',
  'gateway/authentication/partners.ts': 'limits and authenticate',
  'src/auth': 'limits and authenticate',
  'gateway/decode': 'body',
  'gateway/schemas': 'body',
  'gateway/routes': 'body',
  'gateway/upstream/processor_client.ts': 'write stream',
  'gateway/upstream/processor_client.ts#take': 'read stream',
  'gateway/upstream/processor_client.ts#tell': 'read stream',
  'gateway/admission/connection_limit.ts': 'connections',
  'gateway/admission/socket_count.ts': 'connections',
  'gateway/metrics.ts': METRICS,
  'gateway/ops.ts': METRICS,
  'gateway/http/error_response.ts': 'answer',
  'gateway/gateway.ts': 'answer',
  'gateway/authentication/partner_directory.ts': 'directory',
  'gateway/main.ts#metrics': METRICS,
  gateway: OTHER,
}

const PROCESSOR: Table = {
  'src/processor/servers/command_stream.ts': 'read stream',
  'src/processor/servers/command_stream.ts#add': 'replies as JSON',
  'src/processor/servers/command_stream.ts#toWire': 'replies as JSON',
  'src/processor/servers/command_stream.ts#flush': 'write stream',
  'src/processor/servers/operations.ts': 'read stream',
  'src/processor/servers': 'other services',
  'src/processor/server.ts': 'other services',
  'src/processor/cycle/pipeline.ts': 'cycle and queue',
  'src/base/fair_queue.ts': 'cycle and queue',
  'src/processor/cycle/pipeline.ts#prefetch': 'prefetch and evict',
  'src/processor/cycle/pipeline.ts#signatureFault': 'nonce',
  'src/processor/cycle/pipeline.ts#decideChunk': 'decide: commands',
  'src/processor/cycle/pipeline.ts#decideOne': 'decide: commands',
  'src/processor/cycle/pipeline.ts#commit': 'commit submission',
  'src/processor/cycle/pipeline.ts#startCommit': 'commit submission',
  'src/processor/cycle/pipeline.ts#release': 'release',
  'src/processor/cycle/needs.ts': 'prefetch and evict',
  'src/processor/cycle/idempotency.ts': 'decide: idempotency',
  'src/processor/cycle/commit_batch.ts': 'stage rows',
  'src/processor/cycle/commit_batch.ts#toCommit': 'rows as JSON',
  'src/processor/cycle/commit_batch.ts#packed': 'rows as JSON',
  'src/processor/cycle/commit_batch.ts#sendReplies': 'release',
  'src/processor/cycle': 'cycle and queue',
  'src/processor/commands': 'decide: commands',
  'src/processor/commands#needs': 'prefetch and evict',
  'src/processor/changes': 'decide: changes',
  'src/processor/changes/event_publish.ts': 'decide: events as JSON',
  'src/processor/cache': CALLER,
  'src/processor/cache/memory.ts#evict': 'prefetch and evict',
  'src/processor/cache/row_cache.ts#evict': 'prefetch and evict',
  'src/processor/cache/actor_host.ts': 'decide: machines',
  'src/processor/keys': 'decide: tokens and seals',
  'src/processor/queries': 'reads',
  'src/processor/queries/raw_json.ts': 'replies as JSON',
  'src/processor/background/relay.ts': 'relay to the bus',
  'src/processor/background/timers.ts': 'timers',
  'src/processor/background/stuck_payment_monitor.ts': 'timers',
  'src/processor/background/rail_link.ts': 'rail link',
  'src/processor/metrics.ts': METRICS,
  'src/processor/main.ts': CALLER,
  'src/processor/main.ts#metrics': METRICS,
  'src/processor': OTHER,
  actors: 'decide: machines',
  'actors/intent/view.ts': 'decide: views',
  'actors/payout/view.ts': 'decide: views',
  'src/qr': 'decide: QR',
  'src/ledger': 'decide: ledger',
  'src/limits': 'decide: commands',
  'src/quotes': 'decide: commands',
  'src/auth': 'decide: tokens and seals',
  'src/auth/digest.ts': 'decide: idempotency',
  'src/auth/nonces.ts': 'nonce',
  'src/auth/fingerprint.ts': CALLER,
  'src/store/tables.ts': 'rows as JSON',
  'src/store/tables.ts#fromStored': CALLER,
  'src/store/store.ts': 'commit submission',
  'src/store/store.ts#load': 'prefetch and evict',
  'src/store/store.ts#byKey': 'prefetch and evict',
  'src/store/store.ts#rowsOf': 'prefetch and evict',
  'src/store/store.ts#due': 'timers',
  'src/store/store.ts#openEvents': 'relay to the bus',
  'src/store/lists.ts': 'reads',
  'src/store': 'commit submission',
  'src/bus': 'relay to the bus',
  'src/rails': 'rail link',
}

const WEBHOOKS: Table = {
  'actors/webhook/intake/event_consumer.ts': 'intake',
  'actors/webhook/intake/dedup_window.ts': 'intake',
  'src/bus': 'read the bus',
  'actors/webhook/pool.ts': 'lines and connections',
  'actors/webhook/endpoint/endpoint_queue.ts': 'lines and connections',
  'actors/webhook/endpoint/endpoint_health.ts': 'lines and connections',
  'actors/webhook/endpoint/circuit_breaker.ts': 'lines and connections',
  'actors/webhook/delivery/backoff.ts': 'lines and connections',
  'actors/webhook/endpoint/endpoint.ts': CALLER,
  'actors/webhook/endpoint/endpoint_directory.ts': 'endpoints',
  'actors/webhook/delivery/attempt.ts': 'machines',
  'actors/webhook/delivery/actor.ts': 'machines',
  'actors/webhook/delivery/machine.ts': 'machines',
  'actors/webhook/sending/sender.ts': 'send',
  'actors/webhook/sending/target_guard.ts': 'send',
  'src/auth': 'sign',
  'actors/webhook/store/schema.ts': 'rows as JSON',
  'actors/webhook/store/store.ts': 'commit submission',
  'actors/webhook/intake/delivery_outcome_reporter.ts': 'tell outcomes',
  'actors/webhook/metrics.ts': METRICS,
  'actors/webhook/main.ts': CALLER,
  'actors/webhook/main.ts#metrics': METRICS,
  'actors/webhook': OTHER,
}

const RAIL: Table = {
  'src/rails/instruction_codec.ts': 'read stream',
  'src/rails/report_codec.ts': 'write stream',
  'src/rails/batching_writer.ts': 'write stream',
  'src/rails/sandbox/server.ts': 'read stream',
  'src/rails/sandbox/link.ts': 'read stream',
  'src/rails/sandbox/cycle.ts': 'cycle',
  'src/rails/sandbox/journal_batch.ts': 'decide',
  'src/rails/sandbox/bank.ts': 'decide',
  'src/rails/sandbox/entry.ts': 'decide',
  'src/rails/sandbox/journal.ts': 'journal',
  'src/rails': 'decide',
}

export const PROGRAMS: Readonly<Record<string, Table>> = {
  gateway: GATEWAY,
  processor: PROCESSOR,
  webhooks: WEBHOOKS,
  rail: RAIL,
}

export const isStaged = (program: string): boolean => program in PROGRAMS

/** `gateway-2` is a gateway. */
export const programOf = (name: string): string => name.replace(/-[0-9]+$/, '')

export function stagesOf(program: string): ProgramStages {
  const table = { ...COMMON, ...PROGRAMS[program] }
  return {
    ours: (place, functionName) => {
      if (place === '') return ENGINES[functionName]
      if (isOurs(place)) return lookUp(table, place, functionName) ?? OTHER
      return lookUp(CODECS, place, functionName)
    },
    library: (place, functionName, caller) => {
      const own = lookUp(LIBRARIES, place, functionName)
      if (own !== undefined) return own
      if (isOurs(place)) return caller === ENGINE || caller === LOOP ? OTHER : caller
      return caller === ENGINE && place.startsWith('node:') ? LOOP : caller
    },
  }
}

const isOurs = (place: string): boolean => /^(actors|gateway|src|test)\//.test(place)

function lookUp(table: Table, place: string, functionName: string): string | undefined {
  for (let part = place; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('/')))) {
    const found = table[`${part}#${functionName}`] ?? table[part]
    if (found !== undefined) return found
  }
  return undefined
}
