/** Options of a channel between our own processes, or to a rail or a service beside them. */
import { SECOND } from '../base/clock.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../base/constants.js'
import { RECONNECT } from '../base/retry.js'

export const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': RECONNECT.firstMs,
  'grpc.max_reconnect_backoff_ms': RECONNECT.maxMs,
  'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  'grpc.enable_retries': 0,
  // Detects a peer that hangs while connected within 15 s.
  'grpc.keepalive_time_ms': 10 * SECOND,
  'grpc.keepalive_timeout_ms': 5 * SECOND,
}
