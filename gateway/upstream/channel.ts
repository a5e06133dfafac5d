/**
 * gRPC channel options of the connection to the processor.
 *
 * Clients with the same address and options share one connection.
 */
import type { ClientOptions } from '@grpc/grpc-js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/constants.js'
import type { Backoff } from '../../src/base/retry.js'

/** A processor that begins to serve is found soon: a refused connection costs little. */
const RECONNECT: Backoff = { firstMs: 100, maxMs: 300 }

export const CHANNEL_OPTIONS: ClientOptions = {
  // The defaults, 1 s and 120 s, would turn a processor restart into an outage.
  'grpc.initial_reconnect_backoff_ms': RECONNECT.firstMs,
  'grpc.max_reconnect_backoff_ms': RECONNECT.maxMs,
  // A stopped process (SIGSTOP) keeps its socket open: only a ping detects it.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.keepalive_permit_without_calls': 1,
  // A command is sent once. When the connection breaks its outcome is unknown, and only the caller
  // may retry it.
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  'grpc.max_send_message_length': GRPC_MESSAGE_MAX_BYTES,
}

/** For the streams; the connection below them has its own back-off. */
export const REOPEN: Backoff = { firstMs: 100, maxMs: 100 }
