/** Which settings each program reads. A test compares the table with the programs. */
import { CORRIDOR_SETTINGS, type SettingName } from './settings.js'

const OPS = ['OPS_HOST', 'OPS_PORT', 'OPS_HOSTS'] as const
const NATS = [
  ...(['NATS_URL', 'NATS_TLS_CA_FILE', 'NATS_TLS_CERT_FILE', 'NATS_TLS_KEY_FILE'] as const),
] as const
const OTLP = ['OTLP_URL', 'OTLP_HEADERS_FILE', 'TRACE_SAMPLE'] as const
const GRPC_TLS = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'] as const
const SCREENING = [
  ...(['SCREENING_ADDRESS', 'SCREENING_TOKEN', 'SCREENING_TOKEN_FILE'] as const),
  ...(['SCREENING_TLS_CERT_FILE', 'SCREENING_TLS_KEY_FILE', 'SCREENING_TLS_CA_FILE'] as const),
  'SCREENING_TIMEOUT_MS',
] as const

/** Settings by main file. */
export const SETTINGS_READ_BY = {
  'src/rails/sandbox/main.js': [
    ...(['DATA_DIR', 'RAIL_LISTEN', 'RAIL_DELAY_MS', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
    'CALLERS',
    ...GRPC_TLS,
    ...OPS,
    ...OTLP,
  ],
  'src/rails/iso20022/main.js': [
    ...(['DATA_DIR', 'RAIL_LISTEN', 'ISO20022_FILE', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
    'CALLERS',
    ...GRPC_TLS,
    ...OPS,
    ...OTLP,
  ],
  'src/rails/switch/main.js': [
    ...(['DATA_DIR', 'ISO20022_FILE', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
  ],
  'src/screening/sandbox/main.js': [
    ...(['SCREENING_LISTEN', 'LOG_LEVEL', 'LOG_FORMAT', 'CALLERS'] as const),
    ...GRPC_TLS,
  ],
  'src/processor/main.js': [
    ...(['DATA_DIR', 'GRPC_HOST', 'GRPC_PORT', 'BRAND', 'LOG_LEVEL'] as const),
    ...(['LOG_FORMAT', 'GRPC_SOCKET', 'RAIL_ADDRESS', 'RAILS_FILE'] as const),
    ...NATS,
    ...(['LOG_CREATED_PER_SECOND', 'LOG_TRANSITIONS_PER_SECOND'] as const),
    'LOG_REFUSALS_PER_SECOND',
    ...([
      'STORE_URL',
      'STORE_SYNC',
      'SHARD',
      'CLUSTER',
      'PROCESSOR_NAME',
      'GRPC_ADVERTISE',
    ] as const),
    ...GRPC_TLS,
    ...OPS,
    ...OTLP,
    ...SCREENING,
    ...(['PRODUCTION_HOSTS', 'MASTER_KEY_FILE', 'RECOVERY', 'WARM_ACTORS'] as const),
    ...(['ALLOW_SANDBOX_RAIL_IN_PRODUCTION', 'WEBHOOK_POOLS'] as const),
    ...(['DISK_RESERVE_MB', 'CALLERS', 'RAIL_TOKEN', 'RATE_LIMIT_PER_SECOND'] as const),
    'CONSOLE_CLIENT_CA_FILE',
    ...(['SESSION_TTL_S', 'QUOTE_TTL_S', 'INTENT_TTL_S', 'RAIL_SUBMIT_TTL_S'] as const),
    ...(['REVIEW_TTL_S', 'DUPLICATE_SCAN_WINDOW_S', 'SPREAD_BPS', 'RATE_MAX_AGE_S'] as const),
    ...CORRIDOR_SETTINGS,
    'SECOND_OPERATOR_FROM',
    ...(['EVENTS_KEEP_DAYS', 'IDEMPOTENCY_KEYS_KEEP_DAYS', 'PAYOUT_KEYS_KEEP_DAYS'] as const),
    ...(['REQUESTS_KEEP_DAYS', 'USERS_KEEP_DAYS', 'BENEFICIARIES_KEEP_DAYS'] as const),
  ],
  'actors/webhook/main.js': [
    ...(['PROCESSOR_ADDRESS', 'PROCESSORS', 'PROCESSOR_TOKEN'] as const),
    'WEBHOOK_POOL_NUMBER',
    ...NATS,
    ...GRPC_TLS,
    ...OPS,
    ...OTLP,
    ...(['DATA_DIR', 'BRAND', 'LOG_LEVEL', 'LOG_FORMAT', 'RATE_LIMIT'] as const),
    ...(['LOG_TRANSITIONS_PER_SECOND', 'STORE_URL', 'WEBHOOK_STORE_URL'] as const),
    ...(['WEBHOOK_POOL_SCHEMA'] as const),
    ...(['WEBHOOK_ALLOW_PRIVATE', 'WEBHOOK_RATE_PER_SECOND'] as const),
    ...(['WEBHOOK_MAX_ATTEMPTS', 'WEBHOOK_BACKOFF_SCALE_PCT'] as const),
    ...(['WEBHOOK_KEEP_DELIVERED_DAYS', 'WEBHOOK_KEEP_DEAD_DAYS'] as const),
  ],
  'src/console/main.js': [
    ...(['CONSOLE_HOST', 'CONSOLE_PORT', 'CONSOLE_HOSTS', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
    ...(['PROCESSOR_ADDRESS', 'PROCESSORS', 'CONSOLE_METRICS', 'DATA_DIR'] as const),
    ...(['CONSOLE_TLS_CERT_FILE', 'CONSOLE_TLS_KEY_FILE'] as const),
    ...(['CONSOLE_CLIENT_CA_FILE', 'PROCESSOR_TOKEN'] as const),
    ...GRPC_TLS,
  ],
  'gateway/main.js': [
    ...(['PROCESSOR_ADDRESS', 'PROCESSORS', 'PROCESSOR_TOKEN'] as const),
    ...GRPC_TLS,
    ...OPS,
    ...OTLP,
    ...(['HTTP_HOST', 'HTTP_PORT', 'BRAND', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
    ...(['LOG_REQUESTS_PER_SECOND', 'LOG_REFUSALS_PER_SECOND'] as const),
    ...(['RATE_LIMIT', 'RATE_LIMIT_PER_SECOND', 'RATE_LIMIT_PER_ADDRESS'] as const),
    ...(['TRUSTED_PROXIES', 'SANDBOX_HOSTS', 'PRODUCTION_HOSTS'] as const),
    ...(['TLS_CERT_FILE', 'TLS_KEY_FILE'] as const),
  ],
} as const satisfies Record<string, readonly SettingName[]>
