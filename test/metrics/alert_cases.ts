/**
 * For each alert, series that make it fire and series that do not, in promtool's notation with a
 * sample a minute: `0+60x20` grows by 60 twenty times, `1x20` stays.
 */

type Series = Readonly<Record<string, string>>

export interface AlertCase {
  readonly fires: Series
  /** Without series it must not fire, unless others are given. */
  readonly quiet: Series
  /** Other series that make it fire: each part of a rule with several. */
  readonly alsoFires?: readonly Series[]
  readonly alsoQuiet?: readonly Series[]
  /** When it fires. */
  readonly at: string
  /** The labels of the alerts, besides the severity. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Observations between two bounds, or below the lower one. */
function histogram(name: string, labels: string, [low, high]: [string, string]) {
  const bucket = (le: string): string =>
    `causeway_${name}_bucket{${labels}${labels === '' ? '' : ','}le="${le}"}`
  const [none, all] = ['0x60', '0+60x60']
  return {
    fires: { [bucket(low)]: none, [bucket(high)]: all, [bucket('+Inf')]: all },
    quiet: { [bucket(low)]: all, [bucket(high)]: all, [bucket('+Inf')]: all },
  }
}

const one = (series: string, fires: string, quiet: string) => ({
  fires: { [`causeway_${series}`]: fires },
  quiet: { [`causeway_${series}`]: quiet },
})

const PAYOUTS = 'entity="payout",corridor="th_thb",environment="production"'
const PREFUND = 'partner="acme",environment="production",currency="THB"'
const processor = { process: 'processor' }
const GATEWAY = 'process="gateway",instance="g1:9090"'
const refusals = (reason: string): string =>
  `causeway_http_authentication_refusals_total{${GATEWAY},reason="${reason}"}`
const served = (labels: string): string => `causeway_http_requests_total{${labels},status="202"}`
const POST = 'method="POST",route="/v1/payouts"'
const EVENTS = 'causeway_events_total{subscribed="yes"}'
const attempts = (outcome: string): string =>
  `causeway_webhook_attempts_total{outcome="${outcome}"}`

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  CausewayProcessDown: {
    ...one('process_up{process="rail"}', '0x5', '1x5'),
    ...{ at: '2m', labels: { process: 'rail' } },
  },
  CausewayNotScraped: {
    fires: {},
    quiet: { 'causeway_build_info{version="1.0.0"}': '1x5' },
    at: '3m',
  },
  CausewayTargetDown: {
    fires: {
      'up{job="gateways",instance="g1:9090"}': '1x10 0x20',
      'up{job="gateways",instance="g2:9090"}': '1x30',
      'causeway_build_info{job="gateways",instance="g2:9090",version="1.0.0"}': '1x30',
    },
    quiet: {
      'up{job="node",instance="n1:9100"}': '0x30',
      'up{job="gateways",instance="g1:9090"}': '1x20 0 1x9',
      'causeway_build_info{job="gateways",instance="g1:9090",version="1.0.0"}': '1x30',
    },
    alsoFires: [
      {
        'up{job="gateways",instance="g1:9090"}': '1x10 0x20',
        'causeway_build_info{job="gateways",instance="g1:9090",version="1.0.0"}': '1x10 stale',
      },
    ],
    ...{ at: '21m', labels: { job: 'gateways', instance: 'g1:9090' } },
  },
  CausewayGatewayCutOff: {
    ...one('gateway_stream_open{process="gateway"}', '0x5', '1x5'),
    alsoFires: [{ 'causeway_gateway_directory_fresh{process="gateway"}': '0x5' }],
    ...{ at: '2m', labels: { process: 'gateway' } },
  },
  CausewayProcessRestarts: {
    ...one('process_restarts_total{process="rail"}', '0+1x20', '1x20'),
    ...{ at: '15m', labels: { process: 'rail' } },
  },
  CausewayEventLoopBlocked: {
    ...histogram('event_loop_lag_seconds', 'process="processor"', ['0.5', '1']),
    ...{ at: '11m', labels: processor },
  },
  CausewayMetricReadFailures: {
    ...one('metric_read_failures_total{metric="m",process="processor"}', '0+1x20', '3x20'),
    ...{ at: '5m', labels: { metric: 'm', ...processor } },
  },
  CausewayHttpCertificateNotInUse: {
    ...one('http_certificate_in_use{process="gateway"}', '0x10', '1x10'),
    ...{ at: '6m', labels: { process: 'gateway' } },
  },
  CausewayCertificateEnds: {
    ...one(
      'certificate_expiry_time_seconds{certificate="TLS_CERT_FILE",process="gateway"}',
      ...(['1209600x20', '2000000x20'] as const),
    ),
    ...{ at: '16m', labels: { certificate: 'TLS_CERT_FILE', process: 'gateway' } },
  },
  CausewayHttpErrors: {
    fires: {
      'causeway_http_requests_total{status="503"}': '0+2x60',
      'causeway_http_requests_total{status="201"}': '0+98x60',
    },
    quiet: {
      'causeway_http_requests_total{status="503"}': '0+1x60',
      'causeway_http_requests_total{status="409"}': '0+999x60',
    },
    // Two errors in a quiet night.
    alsoQuiet: [
      {
        'causeway_http_requests_total{status="503"}': '0x4 1x3 2x60',
        'causeway_http_requests_total{status="201"}': '0+1x60',
      },
    ],
    // Few requests, of which none is served.
    alsoFires: [{ 'causeway_http_requests_total{status="503"}': '0+1x60' }],
    at: '11m',
  },
  CausewayHttpSlow: {
    ...histogram('http_request_duration_seconds', 'code_class="2xx"', ['1', '2.5']),
    at: '16m',
  },
  CausewayCommandsRejected: {
    ...one('commands_rejected_total{reason="queue_full"}', '0+120x20', '0+30x20'),
    ...{ at: '11m', labels: { reason: 'queue_full' } },
  },
  CausewayCommitsSlow: {
    ...histogram('commit_duration_seconds', 'process="processor"', ['0.5', '1']),
    ...{ at: '16m', labels: processor },
  },
  CausewaySignaturesRefused: {
    ...one('http_authentication_refusals_total{reason="nonce_used"}', '0+600x40', '0+60x40'),
    ...{ at: '21m', labels: { reason: 'nonce_used' } },
  },
  CausewayRequestsRefused: {
    fires: {
      [refusals('timestamp_outside_window')]: '0+10x30',
      // It accepted some before, and answers what needs no signature; another gateway works.
      [served(`${GATEWAY},${POST}`)]: '900x30',
      [served(`${GATEWAY},method="GET",route="/openapi.json"`)]: '0+10x30',
      [served(`${GATEWAY},method="POST",route="/v1/sandbox/request/check"`)]: '0+10x30',
      [served(`process="gateway",instance="g2:9090",${POST}`)]: '0+10x30',
    },
    quiet: {
      [refusals('timestamp_outside_window')]: '0+1000x30',
      [served(`${GATEWAY},${POST}`)]: '0+1x30',
    },
    // It has accepted nothing since its start.
    alsoFires: [{ [refusals('timestamp_outside_window')]: '0+10x30' }],
    // An unknown key, and a client that tries again in a quiet night.
    alsoQuiet: [
      { [refusals('key_unknown')]: '0+10x30' },
      { [refusals('timestamp_outside_window')]: '0+1x30' },
    ],
    at: '20m',
    labels: { process: 'gateway', instance: 'g1:9090', reason: 'timestamp_outside_window' },
  },
  CausewayRailDown: {
    ...one('rail_up{rail="sandbox"}', '0x5', '1x5'),
    ...{ at: '2m', labels: { rail: 'sandbox' } },
  },
  CausewayRailUnnamed: {
    ...one('rail_unnamed_payments{rail="bank_a"}', '3x5', '0x5'),
    ...{ at: '2m', labels: { rail: 'bank_a' } },
  },
  CausewayRouteNotCarried: {
    ...one('route_not_carried{route="production/TH/THB",rail="bank_a"}', '1x5', '0x5'),
    ...{ at: '2m', labels: { route: 'production/TH/THB', rail: 'bank_a' } },
  },
  CausewaySubmissionsPaused: {
    ...one('submissions_paused{scope="rail",target="bank_a"}', '1x20', '0x20'),
    ...{ at: '16m', labels: { scope: 'rail', target: 'bank_a' } },
  },
  CausewayOutcomesUnknownForADay: {
    ...one('unknown_outcomes{entity="payout",age="over_24h"}', '1x5', '0x5'),
    ...{ at: '2m', labels: { entity: 'payout', age: 'over_24h' } },
  },
  CausewayOutcomesUnknown: {
    ...one('unknown_outcomes{entity="payout",age="over_1h"}', '1x10', '0x10'),
    ...{ at: '6m', labels: { entity: 'payout', age: 'over_1h' } },
  },
  CausewayPaymentsFail: {
    fires: {
      [`causeway_payment_failures_total{failure_code="rejected",${PAYOUTS}}`]: '0+3x40',
      [`causeway_payment_transitions_total{state="failed",${PAYOUTS}}`]: '0+3x40',
      [`causeway_payment_transitions_total{state="completed",${PAYOUTS}}`]: '0+7x40',
    },
    quiet: {
      [`causeway_payment_failures_total{failure_code="rejected",${PAYOUTS}}`]: '0+1x40',
      [`causeway_payment_transitions_total{state="failed",${PAYOUTS}}`]: '0+1x40',
      [`causeway_payment_transitions_total{state="completed",${PAYOUTS}}`]: '0+9x40',
    },
    // The only payment of a quarter of an hour.
    alsoQuiet: [
      {
        [`causeway_payment_failures_total{failure_code="rejected",${PAYOUTS}}`]: '1x18 2x40',
        [`causeway_payment_transitions_total{state="failed",${PAYOUTS}}`]: '1x18 2x40',
      },
    ],
    ...{ at: '30m', labels: { entity: 'payout', corridor: 'th_thb' } },
  },
  CausewayDiscrepancies: { ...one('discrepancies_open', '1x10', '0x10'), at: '6m' },
  CausewayRailNotices: {
    ...one('rail_notices_total{notice="no_funds",process="rail"}', '0+1x20', '3x20'),
    ...{ at: '5m', labels: { notice: 'no_funds', process: 'rail' } },
  },
  CausewayOrphanExecutions: { ...one('orphan_executions', '1x10', '0x10'), at: '6m' },
  CausewayScreeningUnavailable: {
    fires: {
      'causeway_screening_duration_seconds_count{purpose="payout",outcome="late"}': '0+6x20',
      'causeway_screening_duration_seconds_count{purpose="payout",outcome="pass"}': '0+60x20',
    },
    quiet: {
      'causeway_screening_duration_seconds_count{purpose="payout",outcome="late"}': '0+1x20',
      'causeway_screening_duration_seconds_count{purpose="payout",outcome="pass"}': '0+60x20',
    },
    // Two late answers in a quiet night.
    alsoQuiet: [
      {
        'causeway_screening_duration_seconds_count{purpose="payout",outcome="late"}':
          '0x4 1x3 2x20',
        'causeway_screening_duration_seconds_count{purpose="payout",outcome="pass"}': '0+1x20',
      },
    ],
    at: '11m',
  },
  CausewayPayoutsHeld: {
    ...one('held_payout_oldest_age_seconds', '14000+60x20', '0+60x20'),
    at: '15m',
  },
  CausewayApprovalsWait: {
    ...one('approval_oldest_age_seconds', '14000+60x20', '0+60x20'),
    at: '15m',
  },
  CausewayRateOld: {
    ...one('rate_age_seconds{environment="production",currency="THB"}', '86401x20', '0+60x20'),
    alsoQuiet: [{ 'causeway_rate_age_seconds{environment="sandbox",currency="THB"}': '86401x20' }],
    ...{ at: '16m', labels: { environment: 'production', currency: 'THB' } },
  },
  CausewayPrefundRunsOut: {
    ...one(`prefund_balance{${PREFUND}}`, '100000-200x420', '100x420'),
    at: '6h45m',
    labels: { partner: 'acme', environment: 'production', currency: 'THB' },
  },
  CausewayBusDown: { ...one('bus_up', '0x5', '1x5'), at: '2m' },
  CausewayOutboxOld: { ...one('outbox_oldest_age_seconds', '3601x20', '60x20'), at: '16m' },
  CausewayWebhooksStopped: {
    fires: {
      [EVENTS]: '0+10x60',
      [attempts('delivered')]: '900x60',
      [attempts('retry')]: '0+20x60',
    },
    quiet: {
      [EVENTS]: '0+10x60',
      [attempts('delivered')]: '0+1x60',
      [attempts('retry')]: '0+20x60',
    },
    // No attempt since the start of the pool.
    alsoFires: [{ [EVENTS]: '0+10x60' }],
    alsoQuiet: [{ [EVENTS]: '0+1x60', [attempts('retry')]: '0+20x60' }],
    at: '40m',
  },
  CausewayWebhooksLate: {
    ...histogram('webhook_event_age_seconds', '', ['60', '300']),
    at: '21m',
  },
  CausewayDeadLetters: { ...one('webhook_dead_letters', '0x5 1x20', '7x20'), at: '10m' },
  CausewayPoisonMessages: { ...one('webhook_poison_total', '0x5 1x20', '7x20'), at: '10m' },
  CausewayBreakersOpen: { ...one('webhook_open_breakers', '1x40', '0x40'), at: '31m' },
  CausewayDiskLow: { ...one('disk_low', '1x2', '0x2'), at: '1m' },
  CausewayDiskFills: {
    ...one('disk_free_bytes', '1000000-1000x480', '1000000x480'),
    at: '7h30m',
  },
  CausewayWalLarge: { ...one('store_wal_bytes', '300000000x20', '64000000x20'), at: '16m' },
  CausewayBackupOld: { ...one('backup_age_seconds', '90001x20', '0+60x20'), at: '16m' },
  CausewayIntegrityFailed: {
    ...one('integrity_failed', '1x2', '0x2'),
    alsoFires: [{ causeway_store_damaged: '1x2' }],
    at: '1m',
  },
  CausewayCorruptRows: {
    ...one('corrupt_rows', '1x2', '0x2'),
    alsoFires: [{ causeway_corrupt_actors: '1x2' }, { causeway_webhook_corrupt_rows: '1x2' }],
    at: '1m',
  },
  CausewayBooksBehind: {
    ...one('recovery_mode', '1x5', '0x5'),
    alsoFires: [{ causeway_submissions_stopped: '1x5' }, { causeway_books_unverified: '1x5' }],
    at: '2m',
  },
  CausewayMarksRefused: { ...one('marks_refused_total', '0x5 1x20', '7x20'), at: '10m' },
  CausewayStoreNotSynchronous: { ...one('store_synchronous', '0x5', '1x5'), at: '2m' },
  CausewayPostgresConnections: {
    fires: {
      causeway_postgres_connections: '95x10',
      causeway_postgres_connections_max: '100x10',
    },
    quiet: { causeway_postgres_connections: '20x10', causeway_postgres_connections_max: '100x10' },
    at: '6m',
  },
  CausewayPostgresTransactionOld: {
    ...one('postgres_oldest_transaction_seconds', '2000x5', '600x5'),
    at: '2m',
  },
  CausewayPostgresReplayLag: {
    ...one('postgres_replay_lag_seconds{standby="s1"}', '60x10', '1x10'),
    ...{ at: '6m', labels: { standby: 's1' } },
  },
  CausewayClockOff: {
    ...one('clock_offset_seconds', '-3x5', '0.5x5'),
    alsoFires: [{ causeway_clock_offset_seconds: '3x5' }, { causeway_clock_ahead_seconds: '2x5' }],
    at: '2m',
  },
  CausewayShardNotOwned: {
    fires: {
      'causeway_shard_owned{shard="books_1",process="p1"}': '0x5',
      'causeway_shard_owned{shard="books_1",process="p2"}': '0x5',
    },
    quiet: {
      'causeway_shard_owned{shard="books_1",process="p1"}': '0x5',
      'causeway_shard_owned{shard="books_1",process="p2"}': '1x5',
    },
    ...{ at: '1m', labels: { shard: 'books_1' } },
  },
  CausewayShardWithoutCandidate: {
    ...one('shard_candidates{shard="books_1",process="p1"}', '0x8', '1x8'),
    ...{ at: '4m', labels: { shard: 'books_1' } },
  },
  CausewayShardNotRouted: {
    ...one('gateway_shard_routed{shard="books_1",process="gateway"}', '0x5', '1x5'),
    ...{ at: '1m', labels: { shard: 'books_1', process: 'gateway' } },
  },
  CausewayShardNotReached: {
    ...one('shard_unreached{shard="books_1",process="p1"}', '1x8', '0x8'),
    ...{ at: '2m', labels: { shard: 'books_1' } },
  },
  CausewayShardSettingsFault: {
    ...one('shard_settings_fault{shard="books_1",process="p1"}', '1x5', '0x5'),
    ...{ at: '2m', labels: { shard: 'books_1' } },
  },
  CausewayShardSettingsBehind: {
    fires: {
      'causeway_shard_settings_behind{shard="books_1",process="p1"}': '2x10',
      'causeway_shard_owned{shard="books_1",process="p1"}': '1x10',
    },
    quiet: {
      'causeway_shard_settings_behind{shard="books_1",process="p1"}': '2x10',
      'causeway_shard_owned{shard="books_1",process="p1"}': '0x10',
    },
    ...{ at: '7m', labels: { shard: 'books_1' } },
  },
}
