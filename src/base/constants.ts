/**
 * Bounds that nobody sets: each with its reason. What an operator may change is in base/settings.
 */
import { DAY, HOUR, MINUTE, SECOND } from './clock.js'

/** What partners are promised: gateway/README.md. */
export const AMOUNT_USD_CENTS_MAX = 100_000_000
export const PARTNER_USER_ID_MAX = 256
export const INTENT_IDEMPOTENCY_KEY_MAX = 256
export const PAYOUT_IDEMPOTENCY_KEY_MAX = 255
/** Attestations of further session tokens that an intent keeps: four times what its life needs. */
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

/** What operators can give a partner: requests a second of a key, basis points of a fee. */
export const PARTNER_RATE_MAX = 1_000_000
export const FEE_BPS_MAX = 10_000

/** A scan holds at most 4,096 code points, each up to 12 bytes when escaped as a surrogate pair. */
export const SCAN_BODY_MAX_BYTES = 64 * 1024
/** 50 metadata pairs of 600 code points, escaped, reach some 360 KB. */
export const PAYOUT_BODY_MAX_BYTES = 512 * 1024
export const BODY_MAX_BYTES = 16 * 1024
/** Deeper JSON is nobody's request and costs stack. */
export const JSON_DEPTH_MAX = 32

/** The gateway's own answer when the processor is silent. */
export const ANSWER_WITHIN_MS = 5 * SECOND
/** A body that trickles in longer than this is a stalled or hostile client. */
export const BODY_WITHIN_MS = 5 * SECOND

/** Commands waiting to be decided. Beyond it the processor answers 503 at once rather than late. */
export const QUEUE_MAX = 20_000
/**
 * Commands decided between two turns of the event loop: short enough for a low p99, long enough to
 * amortise.
 */
export const DECIDE_CHUNK_MAX = 64
/** Commands taken into one prefetch. */
export const BATCH_MAX = 1_024
/**
 * Commands of one group of a commit; a tenant gets at most half of a batch while another one waits.
 */
export const COMMIT_BATCH_MAX = 2_048
/** Commands a gateway puts into one message, and replies the processor does. */
export const STREAM_BATCH_MAX = 256
/**
 * Bytes of bodies in such a message: a batch of usual ones takes a fraction of it, a body beyond it
 * travels alone. What else commands hold comes of their heads, 256 times 8 KiB at most.
 */
export const STREAM_BATCH_MAX_BYTES = 2 * 1024 * 1024
/**
 * gRPC message cap. A message above it ends its call, and the gateways' stream is the call of all
 * partners. So what goes into one message is bounded far below: batches by the bound above, pages
 * by the one below.
 */
export const GRPC_MESSAGE_MAX_BYTES = 8 * 1024 * 1024
/** A request of one message. The largest payout takes some 180 KB, a report of outcomes less. */
export const GRPC_UNARY_MESSAGE_MAX_BYTES = 1024 * 1024
/** The name of a service; these requests need no token. */
export const GRPC_HEALTH_MESSAGE_MAX_BYTES = 4 * 1024
/** Health calls that are open at once, watching ones too. */
export const GRPC_HEALTH_CALLS_MAX = 64
/** A caller sends a whole request at once; one that takes longer is stalled or hostile. */
export const GRPC_REQUEST_WITHIN_MS = 5 * SECOND
/** Requests under way to us: more than one read of a busy connection brings. */
export const GRPC_INCOMPLETE_MAX = 1_024
export const GRPC_INCOMPLETE_MAX_BYTES = 32 * 1024 * 1024
/** Calls of one connection; a caller's further calls wait at its side. */
export const GRPC_STREAMS_MAX = 256
/** Internal services keep one connection each. */
export const GRPC_CONNECTIONS_MAX = 256
/**
 * Bytes of the rows of a page: one that would grow beyond it ends early. A payout with all its
 * metadata takes up to 180 KB, and internal callers take no more than gRPC's usual 4 MiB at once.
 */
export const PAGE_BYTES = 512 * 1024

/** Instructions of one question about what the rail has moved. */
export const INSTRUCTIONS_REQUESTED_MAX = 500

export const ENDPOINTS_PER_TENANT_MAX = 16
/** Enough for a test suite that makes its own each time and runs every six minutes. */
export const ENDPOINTS_MADE_A_DAY_MAX = 256
export const WEBHOOK_URL_MAX = 2_048
export const ENDPOINT_DESCRIPTION_MAX = 500
/** What a rotated webhook secret may wait before it signs. */
export const SECRET_ACTIVE_AFTER_MS = HOUR
export const SECRET_ACTIVE_AFTER_MAX_MS = 30 * DAY

/** Questions to the webhook pools that wait for an answer; each may wait for seconds. */
export const CONTROL_REQUESTS_MAX = 64
/** Less than a caller waits, so that he is told. */
export const CONTROL_RESPONSE_WITHIN_MS = 2 * SECOND
/** Redriven for one question; what is left is asked for again. */
export const REDRIVE_MAX = 5_000
/** Texts of a pool's page: one that reaches it ends early. */
export const CONTROL_PAGE_BYTES = 256 * 1024
