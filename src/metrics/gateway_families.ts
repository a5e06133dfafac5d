/** Families of a gateway. */
import { counter, gauge, histogram, SECONDS, type Families } from './family.js'

export const GATEWAY_FAMILIES = {
  causeway_http_requests_total: counter(
    'Requests answered; a route is the pattern of its path, `unknown`, `wrong_method`, `docs` or ' +
      '`refused_head`',
    ...(['route', 'method', 'status'] as const),
  ),
  causeway_http_request_duration_seconds: histogram(
    SECONDS,
    'Time from the head of a request to its answer',
    ...(['route', 'method', 'code_class'] as const),
  ),
  causeway_http_authentication_refusals_total: counter(
    'Requests answered 401, by the cause that is not in the answer',
    'reason',
  ),
  causeway_http_limited_total: counter(
    'Requests and connections rejected, by the limit they exceeded',
    'limit',
  ),
  causeway_http_unread_answers_total: counter(
    'Connections that ended before the client had taken all of an answer',
  ),
  causeway_http_certificate_in_use: gauge(
    '0 while TLS_CERT_FILE and TLS_KEY_FILE are not what new connections get: they cannot be used',
  ),
  causeway_gateway_commands_in_flight: gauge('Commands without an answer yet'),
  causeway_gateway_requests_held: gauge('Requests queued for the processor'),
  causeway_gateway_stream_open: gauge('1 while the processor stream is open'),
  causeway_gateway_directory_fresh: gauge('1 while directory updates arrive'),
  causeway_gateway_processor_up: gauge(
    '1 while the streams of the processor are open; of several processors',
    ...(['processor', 'shard'] as const),
  ),
  causeway_gateway_processor_epoch: gauge(
    'Epoch of the processor, from its directory stream; of several processors',
    ...(['processor', 'shard'] as const),
  ),
  causeway_gateway_shard_routed: gauge(
    '1 while this gateway has a processor for the shard, 0 while its partners get 503',
    'shard',
  ),
} as const satisfies Families
