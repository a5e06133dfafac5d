/** Fixed bounds, each with its reason. Those that operators may change: settings/settings. */
import { DAY, HOUR, MINUTE, SECOND } from './clock.js'

/** Documented for partners in gateway/guide. */
export const AMOUNT_USD_CENTS_MAX = 100_000_000
export const PARTNER_USER_ID_MAX = 256
export const INTENT_IDEMPOTENCY_KEY_MAX = 256
export const PAYOUT_IDEMPOTENCY_KEY_MAX = 255
/** Attestations of further session tokens stored with an intent: four times the usual need. */
export const REMINTS_KEPT = 24
export const QR_PAYLOAD_MAX = 4_096
export const REFERENCE_MAX = 255
export const DESCRIPTION_MAX = 500
export const BENEFICIARY_NAME_MAX = 255
export const BANK_CODE_MAX = 35
export const ACCOUNT_NUMBER = /^[A-Za-z0-9]{5,34}$/
export const METADATA_PAIRS_MAX = 50
export const METADATA_KEY_MAX = 100
export const METADATA_VALUE_MAX = 500
export const TIMESTAMP_SKEW_MS = 5 * MINUTE
export const NONCE_WINDOW_MS = 10 * MINUTE
export const ACTIVE_KEYS_MAX = 3
export const RECEIPT_TTL_S = 300
export const SESSION_TTL_MAX_S = 900
export const LIST_LIMIT_DEFAULT = 50
export const LIST_LIMIT_MAX = 100

/** Most that operators can set: requests per second and key, basis points of a fee. */
export const PARTNER_RATE_MAX = 1_000_000
export const FEE_BPS_MAX = 10_000

/** A scan holds at most 4,096 code points, each up to 12 bytes when escaped as a surrogate pair. */
export const SCAN_BODY_MAX_BYTES = 64 * 1024
/** 50 metadata pairs of 600 code points, escaped, reach about 360 KB. */
export const PAYOUT_BODY_MAX_BYTES = 512 * 1024
export const BODY_MAX_BYTES = 16 * 1024
/** No valid request is deeper, and parsing deep JSON costs stack. */
export const JSON_DEPTH_MAX = 32

/** The gateway answers 504 when the processor has not answered by then. */
export const ANSWER_WITHIN_MS = 5 * SECOND
/** A body that takes longer comes from a stalled or hostile client. */
export const BODY_WITHIN_MS = 5 * SECOND

/**
 * Commands waiting to be decided, of one tenant half of it. Beyond it the processor answers 503 at
 * once.
 */
export const QUEUE_MAX = 20_000
/** Commands decided before yielding to the event loop: a trade of p99 against throughput. */
export const DECIDE_CHUNK_MAX = 64
/** Commands of one prefetch. */
export const BATCH_MAX = 1_024
/**
 * Row changes of a commit batch from which no further chunk joins it, whatever commands they are
 * of: measured, a create has 2 and a payout 6. A batch exceeds it by one chunk at most.
 */
export const COMMIT_BATCH_CHANGES_MAX = 2_048
/** Commands or replies in one message of the gateways' stream. */
export const STREAM_BATCH_MAX = 256
/**
 * Bytes of request bodies in such a message; a larger body travels alone. The other members come
 * from request headers: at most 256 × 8 KiB.
 */
export const STREAM_BATCH_MAX_BYTES = 2 * 1024 * 1024
/**
 * gRPC message cap. A larger message ends its call, and the gateways' stream carries all partners,
 * so batches (above) and pages (below) are bounded far below it.
 */
export const GRPC_MESSAGE_MAX_BYTES = 8 * 1024 * 1024
/** A unary request. The largest payout takes about 180 KB, a report of outcomes less. */
export const GRPC_UNARY_MESSAGE_MAX_BYTES = 1024 * 1024
/** Health requests contain a service name and need no token. */
export const GRPC_HEALTH_MESSAGE_MAX_BYTES = 4 * 1024
/** Open health calls, watches included. */
export const GRPC_HEALTH_CALLS_MAX = 64
/** A request that takes longer to arrive comes from a stalled or hostile caller. */
export const GRPC_REQUEST_WITHIN_MS = 5 * SECOND
/** Incomplete requests: more than one read of a busy connection brings. */
export const GRPC_INCOMPLETE_MAX = 1_024
export const GRPC_INCOMPLETE_MAX_BYTES = 32 * 1024 * 1024
/** Open reflection calls, and the bytes of requests in each: a client describes a few services. */
export const GRPC_REFLECTION_CALLS_MAX = 16
export const GRPC_REFLECTION_MAX_BYTES = 4 * 1024
/** Open event streams. Each holds one page in memory. */
export const EVENT_STREAMS_MAX = 64
export const EVENT_STREAMS_PER_TENANT_MAX = 8
/** Concurrent calls of one connection; further calls wait in the client. */
export const GRPC_STREAMS_MAX = 256
/** Internal services keep one connection each. */
export const GRPC_CONNECTIONS_MAX = 256
/**
 * Bytes of the rows of a page; a page that would exceed it ends early. A payout with full metadata
 * takes up to 180 KB, and gRPC clients accept 4 MiB by default.
 */
export const PAGE_BYTES = 512 * 1024

/** Characters of the evidence of an operator's action. */
export const EVIDENCE_MAX = 2_000

/** Instructions of one request for movements at the rail. */
export const INSTRUCTIONS_REQUESTED_MAX = 500

export const ENDPOINTS_PER_TENANT_MAX = 16
/** Enough for a test suite that creates one per run and runs every six minutes. */
export const ENDPOINTS_CREATED_PER_DAY_MAX = 256
export const WEBHOOK_URL_MAX = 2_048
export const ENDPOINT_DESCRIPTION_MAX = 500
/** Delay before a rotated webhook secret signs. */
export const SECRET_ACTIVE_AFTER_MS = HOUR
export const SECRET_ACTIVE_AFTER_MAX_MS = 30 * DAY

/** Open requests to the webhook pools, of one tenant half of it; each may take seconds. */
export const CONTROL_REQUESTS_MAX = 128
/** Shorter than the caller's deadline, so the caller gets the fault. */
export const CONTROL_RESPONSE_WITHIN_MS = 2 * SECOND
/** Deliveries redriven per request; the caller repeats it for more. */
export const REDRIVE_MAX = 5_000
/** Bytes of reply texts in a page of deliveries; a page that reaches it ends early. */
export const CONTROL_PAGE_BYTES = 256 * 1024
