/** The settings by subject, as their page and `config show` list them; each is in one group. */
import type { SettingName } from './settings.js'

export const SETTINGS_GROUPS: Readonly<Record<string, readonly SettingName[]>> = {
  Serving: [
    'HTTP_HOST',
    'HTTP_PORT',
    'GRPC_PORT',
    'OPS_PORT',
    'GATEWAYS',
    'TLS_CERT_FILE',
    'TLS_KEY_FILE',
    'TRUSTED_PROXIES',
    'SANDBOX_HOSTS',
    'PRODUCTION_HOSTS',
    'BRAND',
  ],
  'Storage and bus': ['DATA_DIR', 'MASTER_KEY_FILE', 'NATS_PORT', 'NATS_URL', 'WARM_ACTORS'],
  Limits: ['RATE_LIMIT', 'RATE_LIMIT_PER_SECOND', 'RATE_LIMIT_PER_ADDRESS'],
  'Payments and payouts': [
    'SESSION_TTL_S',
    'QUOTE_TTL_S',
    'INTENT_TTL_S',
    'HANDOVER_TTL_S',
    'REVIEW_TTL_S',
    'DUPLICATE_SCAN_WINDOW_S',
    'SPREAD_BPS',
    'RATE_MAX_AGE_S',
    'TH_LIMIT_TRANSACTION_THB',
    'TH_LIMIT_DAY_THB',
    'TH_LIMIT_MONTH_THB',
    'TH_MINIMUM_SATANG',
    'VN_MINIMUM_VND',
  ],
  Webhooks: [
    'WEBHOOK_POOLS',
    'WEBHOOK_ALLOW_PRIVATE',
    'WEBHOOK_RATE_PER_SECOND',
    'WEBHOOK_MAX_ATTEMPTS',
    'WEBHOOK_BACKOFF_SCALE_PCT',
  ],
  'Sandbox only': ['RAIL_DELAY_MS', 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION'],
  Logs: ['LOG_LEVEL'],
}
