/** Faults of the area `gateway`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const GATEWAY: readonly Mutant[] = [
  ...faultsIn('gateway/authentication/authenticate.ts', 'gateway/authenticate', {
    'Any app may use a session token.': [
      'partner.packages.size === 0 || (isText(app) && partner.packages.has(app))',
      'partner.packages.size === 0 || isText(app)',
    ],
    'An unknown key is 401 while the directory of a processor is missing.': [
      'UNKNOWN.has(found) && !directory.isComplete()',
      'UNKNOWN.has(found) && directory.partners() === undefined',
    ],
    'The list of addresses of a partner is not looked at in production.': [
      "environment === 'sandbox' || isAllowed(",
      "environment === 'sandbox' || environment === 'production' || isAllowed(",
    ],
  }),
  ...faultsIn('gateway/authentication/authenticate.ts', 'gateway/matrix', {
    'A session token opens every intent of its partner.': [
      "if (intentId !== id) return 'token_of_other_intent'",
      '',
    ],
    'A token of the sandbox opens production.': [
      'of.environment !== environment',
      "of.environment === 'production' && environment === 'sandbox'",
    ],
  }),
  ...faultsIn('gateway/authentication/client_address.ts', 'gateway/client_address', {
    'Every client may choose its address by X-Forwarded-For.': [
      "typeof header !== 'string' || !isProxy(peer)",
      "typeof header !== 'string'",
    ],
    'X-Forwarded-For is read from the left, which clients write.': [
      "header.split(',').reverse()",
      "header.split(',')",
    ],
  }),
  ...faultsIn('src/base/network.ts', 'gateway/client_address', {
    'Each address of an IPv6 network is a source of its own.': [
      'parsed.parts.slice(0, 4)',
      'parsed.parts.slice(0, 8)',
    ],
  }),
  ...faultsIn('gateway/authentication/ip_allowlist.ts', 'gateway/ip_allowlist', {
    'An address of a list that cannot be read opens the list.': [
      'if (blocks.length === 0) return () => true',
      'if (blocks.flatMap(blockOf).length === 0) return () => true',
    ],
    'A mapped IPv4 address is not on the list of its network.': [
      'const address = ipaddr.process(peer)',
      'const address = ipaddr.parse(peer)',
    ],
  }),
  ...faultsIn('gateway/admission/rate_limit.ts', 'gateway/rate_limit', {
    'A burst is not bounded by the rate.': [
      'Math.min(perSecond, bucket.tokens + refill)',
      'bucket.tokens + refill',
    ],
    'A clock that is set back takes tokens away.': [
      '(Math.max(0, now - bucket.at) * perSecond)',
      '((now - bucket.at) * perSecond)',
    ],
  }),
  ...faultsIn('gateway/admission/limits.ts', 'gateway/limits', {
    'One partner may have any number of requests in flight.': [
      'inFlight(tenant).count >= TENANT_IN_FLIGHT_MAX',
      'inFlight(tenant).count < 0',
    ],
    "A partner's own rate is not used.": [
      'ratePerSecond === 0 ? settings.RATE_LIMIT_PER_SECOND : ratePerSecond',
      'settings.RATE_LIMIT_PER_SECOND',
    ],
  }),
  ...faultsIn('gateway/admission/connection_limit.ts', 'gateway/connection_limit', {
    'One source takes all connections.': ['bound = Math.min(max, capacity)', 'bound = max'],
    'A count of connections forgets those opened meanwhile.': [
      'for (const [source, count] of since) add(counted, source, count)',
      '',
    ],
  }),
  ...faultsIn('gateway/admission/load_shedder.ts', 'gateway/load_shedder', {
    "A flood rejects the others' requests as well.": [
      'isFull && waiting < WAITING_MAX && isUnderShare(trafficClass, waitingMax)',
      'isFull && waiting < 0 && isUnderShare(trafficClass, waitingMax)',
    ],
    'Unknown keys have a share of the queue.': ["trafficClass.of !== 'unknown_keys' &&", ''],
  }),
  ...faultsIn('gateway/admission/traffic_class.ts', 'gateway/traffic_class', {
    'Any key id makes a class of its own.': [
      "typeof id === 'string' && directory.partners()?.key(id) !== undefined",
      "typeof id === 'string'",
    ],
  }),
  ...faultsIn('gateway/admission/request_scheduler.ts', 'gateway/request_scheduler', {
    'Held requests overtake each other.': ['shedder.held > 0 || !hasCapacity()', '!hasCapacity()'],
  }),
  ...faultsIn('gateway/http/head.ts', 'gateway/head', {
    'Of two headers of one name the first counts.': [
      'values[index] = withLine(name, values[index], value)',
      'values[index] ??= value',
    ],
    'Two Host headers are accepted.': ["if (this.header('host') === REPEATED) return false", ''],
  }),
  ...faultsIn('gateway/http/body.ts', 'gateway/body', {
    'A body above its bound is accepted.': [
      'this.oversized ||= this.bytes > maxBytes',
      'this.oversized ||= this.bytes > 2 ** 30',
    ],
    'One source may hold all memory of bodies.': [
      'this.heldBy(source) + bytes <= BUFFERED_MAX_BYTES - this.bytes - bytes',
      'bytes <= BUFFERED_MAX_BYTES - this.bytes',
    ],
    'Memory of a body is never released.': [
      'if (this.source !== undefined) this.memory.add(this.source, -this.held.length)',
      '',
    ],
  }),
  ...faultsIn('gateway/decode/json.ts', 'gateway/json', {
    'The last of two members of one name counts.': [
      'countMembers(value, escapes) === members',
      'countMembers(value, escapes) <= members',
    ],
    'A number with an exponent is accepted.': [
      'if (isDigit(text.charCodeAt(at - 1))) return undefined',
      '',
    ],
    'Depth is not bounded.': ['if (++depth > JSON_DEPTH_MAX) return undefined', 'depth++'],
    'A text may hide NUL in an escape.': [
      'checkTexts && !isCleanText(value) ? Number.NaN : 0',
      '0',
    ],
  }),
  ...faultsIn('gateway/decode/query.ts', 'gateway/refusal_details', {
    'A repeated parameter of a query is accepted.': [
      'if (parameters.has(decodedName)) {',
      "if (decodedName === '') {",
    ],
  }),
  ...faultsIn('gateway/decode/idempotency_key.ts', 'gateway/payout_routes', {
    'A repeated Idempotency-Key is accepted as absent.': [
      'return header === undefined ? accepted(undefined)',
      "return typeof header !== 'string' ? accepted(undefined)",
    ],
  }),
  ...faultsIn('gateway/routing/hosts.ts', 'gateway/hosts', {
    'The port of a Host header makes another host of it.': [
      "host.replace(/:[0-9]*$/, '').toLowerCase()",
      'host.toLowerCase()',
    ],
    'With explicit hosts an unknown host is the sandbox.': [
      "hasDefaultHosts(settings) ? 'sandbox' : undefined",
      "hasDefaultHosts(settings) ? 'sandbox' : 'sandbox'",
    ],
  }),
  ...faultsIn('gateway/request_handler.ts', 'gateway/payout_routes', {
    'A rejected request leaves its nonce unused.': [
      'if (call.caller.signedBy === null) {',
      "if (call.caller.rateKey !== '') {",
    ],
  }),
  ...faultsIn('gateway/request_handler.ts', 'gateway/app', {
    'A request without a signature learns which paths exist.': [
      "match.kind === 'no_route' && !authenticator.isSigned(request)",
      "match.kind === 'no_route'",
    ],
    'A malformed body hides that its token is consumed.': [
      "if (auth === 'session') return checkSessionAndReject(",
      "if (auth === 'receipt') return checkSessionAndReject(",
    ],
  }),
  ...faultsIn('gateway/request_handler.ts', 'docs/site', {
    'The documentation is shown in production.': [
      "routed.kind === 'file' && environment === 'sandbox'",
      "routed.kind === 'file'",
    ],
  }),
  ...faultsIn('gateway/request_handler.ts', 'gateway/limits', {
    'A request in flight is never counted down.': ['this.inFlight.count -= 1', ''],
  }),
  ...faultsIn('gateway/upstream/processor_client.ts', 'gateway/processor_client', {
    'A command that was sent is sent again after the stream breaks.': [
      'for (const pending of unanswered) {\n' +
        "      settleSafely(log, pending, 'configuration_error', '', false)\n" +
        '    }',
      '',
    ],
    'Commands are held for ever while no stream opens.': [
      'holding = setTimeout(refuseHeld, holdWithinMs)',
      'holding = setTimeout(refuseHeld, 2 ** 30)',
    ],
  }),
  ...faultsIn('gateway/upstream/held_commands.ts', 'gateway/processor_client', {
    'A held command keeps the whole of its time.': [
      '(command.budget_ms ?? 0) - (now - since)',
      'command.budget_ms ?? 0',
    ],
  }),
  ...faultsIn('gateway/upstream/partner_routing.ts', 'gateway/partner_routing', {
    'A broken stream comes before an open one.': [
      'if (one.fresh !== other.fresh) return one.fresh',
      '',
    ],
    'The older owner of a shard keeps its partners.': [
      'isOneShard && mine.epoch > theirs.epoch',
      'isOneShard && mine.epoch < theirs.epoch',
    ],
    'An update without token keys forgets them.': [
      'if (update.token_keys.length > 0) snapshot.tokenKeys = update.token_keys',
      'snapshot.tokenKeys = update.token_keys',
    ],
  }),
  ...faultsIn('gateway/upstream/progress_marks.ts', 'gateway/processors', {
    'An older mark replaces a newer one.': [
      'known === undefined || isNewer(next, known)',
      'known === undefined || !isNewer(next, known)',
    ],
  }),
  ...faultsIn('gateway/http/request_context.ts', 'gateway/idempotency_key', {
    'A 401 shows the idempotency key.': [
      'echoed !== undefined && status !== 401',
      'echoed !== undefined',
    ],
  }),
  ...faultsIn('gateway/http/request_context.ts', 'gateway/refusal_details', {
    'Production tells the field of a fault.': [
      "violation !== undefined && this.environment === 'sandbox'",
      'violation !== undefined',
    ],
  }),
  ...faultsIn('gateway/http/request_context.ts', 'gateway/unavailable', {
    'A 503 does not say when to come again.': [
      'waits ? [...headers, RETRY_SOON] : headers',
      'headers',
    ],
  }),
  ...faultsIn('gateway/http/server.ts', 'gateway/server', {
    'A connection goes on after a body that was not read.': [
      'request.closing = head.chunked',
      'request.closing = false',
    ],
  }),
  ...faultsIn('gateway/http/server.ts', 'gateway/body', {
    'A body that never comes holds its connection.': ['reading.add(request)', ''],
  }),
  ...faultsIn('gateway/upstream/processor_client.ts', 'gateway/refused_commands', {
    'A refused command keeps its place at the processor.': [
      'const pending = inFlight.take(ticket)',
      'const pending = inFlight.take(ticket)\n' +
        "      if (pending !== undefined && code !== '') inFlight.add(pending)",
    ],
  }),
  ...faultsIn('gateway/request_handler.ts', 'gateway/refused_commands', {
    'A refused command keeps its place among those of its partner.': [
      'this.inFlight.count -= 1',
      "if (code === '') this.inFlight.count -= 1",
    ],
  }),
  ...faultsIn('gateway/upstream/processors.ts', 'gateway/processors', {
    'A call is held for twenty seconds while its partner moves.': [
      'HOLD_WITHIN_MS = 2 * SECOND',
      'HOLD_WITHIN_MS = 20 * SECOND',
    ],
    'A command answered not_here is sent again with its whole time.': [
      'command.budget_ms = budgetMs - (clock.now() - sentAt)',
      'command.budget_ms = budgetMs',
    ],
  }),
  ...faultsIn('src/grpc/renewed_client.ts', 'grpc/renewed_client', {
    'A peer that accepts a connection and sends nothing is waited for without an end.': [
      'const isStuck = !isReady && !wasReady',
      'const isStuck = false',
    ],
  }),
]
