/**
 * The connection to the processor.
 *
 * Owns: its gRPC settings. Does not own: what is called over it (partner_directory,
 * processor_client).
 *
 * Clients made with the same address and options share one connection.
 */
import { credentials, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/constants.js'
import { RECONNECT, type Backoff } from '../../src/base/retry.js'

/** Loopback or a socket file; the token in the metadata says who we are. */
export const channelCredentials = (): ChannelCredentials => credentials.createInsecure()

export const CHANNEL_OPTIONS: ClientOptions = {
  // The defaults, 1 s and 120 s, would make a restart of the processor an outage.
  'grpc.initial_reconnect_backoff_ms': RECONNECT.firstMs,
  'grpc.max_reconnect_backoff_ms': RECONNECT.maxMs,
  // A processor that is stopped, not dead, keeps its socket: only a ping tells.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.keepalive_permit_without_calls': 1,
  // A command is sent once: its outcome is unknown when the connection breaks, and only its caller
  // may repeat it.
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  'grpc.max_send_message_length': GRPC_MESSAGE_MAX_BYTES,
}

/** For the streams: the connection beneath has a back-off of its own. */
export const REOPEN: Backoff = { firstMs: 100, maxMs: 100 }
