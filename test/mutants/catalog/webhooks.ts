/** Faults of the area `webhooks`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const WEBHOOKS: readonly Mutant[] = [
  ...faultsIn('actors/webhook/endpoint/endpoint.ts', 'webhook/endpoint', {
    'An endpoint gets the events of other tenants.': [
      'if (endpoint.tenant !== event.tenant) return false',
      '',
    ],
    'An endpoint gets events from before its creation.': [
      'if (endpoint.createdAt > event.createdAt && !isOfWrongClock) return false',
      '',
    ],
    'An endpoint of a clock that was ahead gets no event.': [
      'endpoint.createdAt - event.receivedAt > HELD_MAX_MS',
      'false',
    ],
    'An endpoint gets earlier events where clocks differ a little.': ['> HELD_MAX_MS', '> 0'],
    'A test event goes to every endpoint.': [
      'if (event.type === TEST_EVENT) return endpoint.id === endpointIn(event.body)',
      'if (event.type === TEST_EVENT) return true',
    ],
    'A deleted endpoint gets events.': ["if (endpoint.status === 'deleted') return false", ''],
    'A secret signs before it is active.': ['secret.activeFrom <= now', 'secret.activeFrom > 0'],
    'The oldest active secret signs, after a rotation as before it.': [
      'secrets.findLast(',
      'secrets.find(',
    ],
    'A new endpoint gets nothing while the clock of its processor is ahead.': [
      ' ?? secrets[0]',
      '',
    ],
  }),
  ...faultsIn('src/base/event_types.ts', 'webhook/endpoint', {
    'An opt-in event goes to those who subscribe to `*`.': [
      "filter.includes('*') && !OPT_IN_EVENTS.has(type)",
      "filter.includes('*')",
    ],
  }),
  ...faultsIn('src/processor/cache/endpoint_table.ts', 'processor/events', {
    'Events of a disabled endpoint are settled and not held.': [
      "status !== 'deleted'",
      "status === 'enabled'",
    ],
    'A changed filter counts only after a restart.': ['filters.delete(endpoint.tenant)', ''],
    'A filter selects the events of all tenants.': [
      'const existing = ofTenant(tenant).filter',
      'const existing = [...all.values()].filter',
    ],
  }),
  ...faultsIn('src/processor/changes/event_publish.ts', 'processor/events', {
    'An event without a subscriber stays open.': ['batch.settledEvents.push(id)', ''],
  }),
  ...faultsIn('src/bus/event_stream.ts', 'bus/nats', {
    'A stream that takes no events is used.': [
      'if (!config.subjects.some(takesEvents))',
      'if (config.subjects.length === 0)',
    ],
    'A stream of an earlier version stays without a bound.': [
      'config.max_bytes === UNBOUNDED && config.discard === DiscardPolicy.Old',
      'config.max_bytes === 0',
    ],
    'A stream for which the server has too little storage is not made.': [
      'if (!isShortOfStorage(fault)) throw fault',
      'throw fault',
    ],
  }),
  ...faultsIn('src/bus/nats.ts', 'bus/nats', {
    'A bus whose connection was lost during the admission is up.': [
      'if (lost === timesLost)',
      'if (isAdmitted)',
    ],
    'A message of a lost stream acknowledges one of the next stream.': [
      'up && arrived === timesUp && !link.isClosed()',
      'up && !link.isClosed()',
    ],
  }),
  ...faultsIn('src/bus/event_stream.ts', 'bus/installations', {
    'Two installations share a stream.': [
      'installation !== undefined && own.length > 0 && !own.includes(installation)',
      'installation !== undefined && own.length === 0',
    ],
    'An installation that has got another id loses its stream.': [
      '!own.includes(installation)',
      'installation !== own[0]',
    ],
  }),
  ...faultsIn('src/processor/background/relay.ts', 'bus/relay', {
    'Settled events are no marks on the bus.': ['marks.committed(committed.at(-1))', ''],
    'A settled event is published like any other.': [
      'committed.filter(({ isSettled }) => isSettled !== true)',
      'committed.slice()',
    ],
  }),
  ...faultsIn('src/bus/bus_server.ts', 'bus/bus_server', {
    'A password of the bus ends at its first colon.': ['(?::(.*))?$', '(?::([^:]*).*)?$'],
  }),
  ...faultsIn('actors/webhook/store/admin_queries.ts', 'webhook/dead_delivery_reporter', {
    'A delivery died later than its last attempt ended.': [
      '(SELECT max(at) FROM attempts',
      '(SELECT max(at + latency_ms) FROM attempts',
    ],
  }),
  ...faultsIn('src/processor/queries/find.ts', 'processor/deliveries', {
    'What does not fit into an answer of a pool is not shown.': [
      'if (isCut && event_ids.length > 1) {',
      'if (isCut && event_ids.length > 1_000) {',
    ],
  }),
  ...faultsIn('src/audit/checks/deliveries.ts', 'audit/audit', {
    'The audit accepts that a settled event is in no pool.': [
      'w.enabled_events_since < e.created_at',
      'w.enabled_events_since > e.created_at',
    ],
  }),
  ...faultsIn('actors/webhook/sending/sender.ts', 'webhook/sender', {
    'A clock that is set back makes a negative latency.': [
      'Math.max(0, clock.now() - began)',
      'clock.now() - began',
    ],
    'An endpoint with another URL gets its deliveries at the former host.': [
      'key: `${endpoint.id} ${origin}`',
      'key: endpoint.id',
    ],
    'A 5xx is final.': ['status === null || status >= 500', 'status === null'],
    'A redirect counts as delivered.': ['if (status < 300)', 'if (status < 400)'],
    'An interim response decides.': [
      'if (given >= FINAL_STATUS) status = given',
      'status ??= given',
    ],
    'The query is not part of the signed path.': ['path: pathname + search', 'path: pathname'],
    'A body without an end is read without an end.': [
      "if (received > REPLY_MAX_BYTES) abort('reply cut')",
      '',
    ],
    'A receiver that never answers holds its connection for ever.': [
      "setTimeout(() => abort('timeout'), attemptWithinMs)",
      "setTimeout(() => abort('timeout'), 2 ** 30)",
    ],
  }),
  ...faultsIn('actors/webhook/sending/target_guard.ts', 'webhook/target_guard', {
    'Plain HTTP is allowed for production.': [
      "allowPrivate || environmentOf(tenant) === 'sandbox'",
      "allowPrivate || environmentOf(tenant) !== 'nowhere'",
    ],
    'A URL may name credentials.': [
      "url.username !== '' || url.password !== ''",
      "url.username === '' && url.password !== ''",
    ],
    'A private address in the URL is allowed.': [
      'isIP(host) !== 0 && !allowPrivate && !isPublic(host)',
      'isIP(host) === 4 && !allowPrivate && !isPublic(host)',
    ],
    'A name with a public and a private address is allowed.': [
      'addresses.some(({ address }) => !allowPrivate',
      'addresses.every(({ address }) => !allowPrivate',
    ],
    'Translated and local IPv6 addresses are public.': [
      "parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6)",
      "parsed.kind() === 'ipv4' || parsed.kind() === 'ipv6'",
    ],
  }),
  ...faultsIn('actors/webhook/delivery/backoff.ts', 'webhook/backoff', {
    'Retries never end.': [
      'made < rules.attemptsMax ? PAUSE_MS[made] : undefined',
      'PAUSE_MS[Math.min(made, rules.attemptsMax - 1)]',
    ],
    'A retry has no jitter.': [
      '1 - JITTER + 2 * JITTER * random.fraction()',
      '1 + 0 * JITTER * random.fraction()',
    ],
  }),
  ...faultsIn('actors/webhook/delivery/machine.ts', 'webhook/machine', {
    'An attempt is made before it is due.': [
      'context.dueAt !== null && event.at >= context.dueAt',
      'context.dueAt !== null',
    ],
    'A failed probe uses up an attempt.': [
      "target: 'waiting', actions: 'countTry' }",
      "target: 'waiting', actions: ['countTry', 'countAttempt'] }",
    ],
    'A redrive forgets how often a delivery was tried.': [
      '{ ...newDelivery(event.at), tries: context.tries }',
      'newDelivery(event.at)',
    ],
  }),
  ...faultsIn('actors/webhook/endpoint/endpoint_health.ts', 'webhook/endpoint_queue', {
    'A 4xx opens the breaker of an endpoint.': [
      "queue.breaker = kind === 'retry'",
      "queue.breaker = kind !== 'delivered'",
    ],
    'An endpoint that answers 410 stays enabled.': [
      "disable: kind === 'gone' ? 'gone' : tooLong",
      'disable: tooLong',
    ],
    'An endpoint that fails for days stays enabled.': [
      '>= DISABLE_AFTER_FAILING_MS',
      '> 100 * DISABLE_AFTER_FAILING_MS',
    ],
    'A time without an attempt counts as one of failures.': [
      '(sinceLastMs ?? 0) > QUIET_MS',
      'false',
    ],
    'A 4xx ends the days of failing.': [
      "if (kind === 'delivered') return",
      "if (kind !== 'retry') return",
    ],
  }),
  ...faultsIn('actors/webhook/endpoint/endpoint_directory.ts', 'processor/directory_stream', {
    'Events of a tenant whose processor stays away are held for ever.': [
      'waiter.resolve(false)',
      '',
    ],
  }),
  ...faultsIn('actors/webhook/endpoint/endpoint_queue.ts', 'webhook/endpoint_queue', {
    'An open breaker lets several probes out at once.': [
      'if (isOpen(queue.breaker)) return queue.inFlight === 0 && mayProbe(queue.breaker, now)',
      'if (isOpen(queue.breaker)) return mayProbe(queue.breaker, now)',
    ],
    'A retry of a clock that was ahead waits until that time.': [
      ' || isPutOff(queue.dueOnDisk, now)',
      '',
    ],
    'A new delivery overtakes due ones on disk.': [
      'queue.dueOnDisk === null || context.dueAt === null || queue.dueOnDisk > context.dueAt',
      'queue.dueOnDisk === null || queue.dueOnDisk > 0',
    ],
    'A clock that is set back stops an endpoint.': [
      'queue.spentUntil = Math.min(queue.spentUntil, now + BURST_MS)',
      '',
    ],
  }),
  ...faultsIn('actors/webhook/store/dedup_window.ts', 'webhook/dedup_window', {
    'Evicted ids are unknown instead of looked up.': [
      'for (const id of older) if (id > watermark) watermark = id',
      '',
    ],
    'An event on disk from before the start is delivered again.': [
      'let watermark = newestOnDisk',
      "let watermark = ''",
    ],
  }),
  ...faultsIn('actors/webhook/intake/event_consumer.ts', 'webhook/event_consumer', {
    'A known event makes deliveries again.': [
      '!known.has(id) && !isElsewhere(id)',
      '!isElsewhere(id)',
    ],
    'A message is acknowledged before its events are stored.': [
      '    options.deliver(deliveries, stored)\n' +
        '    allStored = stored.then(() => {\n' +
        "      crashPoint('delivery.stored')\n" +
        '      for (const message of messages) message.ack()',
      '    options.deliver(deliveries, stored)\n' +
        '    for (const message of messages) message.ack()\n' +
        '    allStored = stored.then(() => {\n' +
        "      crashPoint('delivery.stored')",
    ],
    'A poison message is dropped.': [
      'poison.push(recordPoison(message, read.reason, now))',
      'recordPoison(message, read.reason, now)',
    ],
    'An event is routed without the directory of its tenant.': [
      '!isTenant(tenant) || endpoints.isSynced(tenant)',
      '!isTenant(tenant) || endpoints.isAnySynced()',
    ],
    'A new endpoint does not get the event that was routed just before it arrived.': [
      'if (newest.enabledEventsSince < since) return',
      'if (newest.enabledEventsSince > since) return',
    ],
  }),
  ...faultsIn('actors/webhook/intake/event_claims.ts', 'webhook/event_claims', {
    'A pool takes a repeated event although another one does not answer.': [
      'if (!answer.complete) return undefined',
      '',
    ],
    'Of two pools that ask at the same time both take the event.': [
      'own.has(id) || here.has(id)',
      'here.has(id)',
    ],
    'An event that was just left to another pool is asked about at once, and taken.': [
      'at !== undefined && Math.abs(clock.now() - at) < YIELD_FOR_MS',
      'at !== undefined && clock.now() < at',
    ],
  }),
  ...faultsIn('actors/webhook/control/redrive.ts', 'webhook/control', {
    'A deleted endpoint gets redriven deliveries.': [
      'if (!exists(endpoints.get(endpointId))) return 0',
      '',
    ],
    'A redrive sends what is in flight a second time.': [
      '.filter(isOnDiskOnly).flatMap(',
      '.flatMap(',
    ],
    'A resend to one endpoint goes to every endpoint.': [
      'endpointId === undefined || row.endpointId === endpointId',
      'endpointId !== row.id',
    ],
  }),
  ...faultsIn('actors/webhook/intake/event_claims.ts', 'webhook/event_claims', {
    'A pool that is asked about its own question leaves the events to itself.': [
      'if (other === pool) return []',
      '',
    ],
    'A pool stores what it has left to another one since its question.': [
      'if (ids.has(id)) heldElsewhere.add(id)',
      'if (ids.has(id)) heldElsewhere.delete(id)',
    ],
    'The answer of a processor that has become a candidate counts.': [
      'resolve(answer ?? NO_ANSWER)',
      'resolve(answer ?? { ...NO_ANSWER, complete: true })',
    ],
    'A question is asked although its time is over.': [
      '(clock.now() >= until ? undefined : askOnce(events))',
      'askOnce(events)',
    ],
  }),
  ...faultsIn('actors/webhook/intake/event_consumer.ts', 'webhook/event_consumer', {
    'Any number of repeated messages is in work.': ['repeatedInWork < repeatedMax', 'true'],
    'Resends of one tenant stand before the events of all.': [
      'others.then(() => serialized(() => allStored.then(work)))',
      'serialized(() => allStored.then(work))',
    ],
    'Each change of an endpoint reads the events of a minute.': [
      'routing ??= routeLate().catch(failed)',
      'void routeMissed(newest.id).catch(failed)',
    ],
    'A filter that was replaced while it waited selects nothing.': [
      'event.createdAt < newest.enabledEventsSince ? first : newest',
      'newest',
    ],
  }),
  ...faultsIn('src/processor/servers/webhook_control.ts', 'processor/webhook_control', {
    'One tenant takes all requests to the pools.': [
      '!open.mayTake(of, count)',
      'open.held + count > CONTROL_REQUESTS_MAX',
    ],
  }),
  ...faultsIn('actors/webhook/pool.ts', 'webhook/pool_schedule', {
    'The receivers of one tenant use every slot.': [
      '.next((tenant) => share.mayTake(tenant))',
      '.next()',
    ],
    'A failure that arrives after the endpoint was disabled counts.': [
      'queue.running && queue.endpoint?.url',
      'queue.endpoint?.url',
    ],
    'A delivery that comes while those of a deleted endpoint are read stays open.': [
      'left.length === 0 && queue.dueOnDisk === null',
      'left.length === 0',
    ],
    'A failure of the former URL counts.': [' && queue.endpoint?.url === url', ' && url !== ""'],
  }),
  ...faultsIn('actors/webhook/intake/event_outcome_reporter.ts', 'webhook/event_outcome_reporter', {
    'An endpoint that was deleted is asked to be disabled without an end.': [
      'urlOf(id) !== url || ',
      '',
    ],
  }),
  ...faultsIn('actors/webhook/store/schema.ts', 'webhook/store', {
    'An endpoint that answered at last is stored as failing.': [
      '    failing: failingAtTheEnd(batch),\n',
      '',
    ],
  }),
]
