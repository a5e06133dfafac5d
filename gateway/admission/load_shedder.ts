/**
 * Admission control for the commands that the processor has not answered, in the style of CoDel: it
 * distinguishes a burst from a sustained queue.
 *
 * Owns: how many requests may wait, from the length of the queue over time and by traffic class.
 * Does not own: rejections (limits.ts, request_handler.ts), the order of requests
 * (request_scheduler.ts), requests that the processor answers outside of its command cycle, such as
 * lists.
 *
 * - The queue is sustained once it exceeds QUEUED_MAX for SUSTAINED_MS, so a burst of up to
 *   BURST_MAX after quiet is accepted whole. Shedding begins when the queue is sustained and, for
 *   another SUSTAINED_MS, requests outnumber answers or it reaches BURST_MAX.
 * - More than BURST_MAX within SUSTAINED_MS is a flood. Shedding begins at once and also rejects
 *   the requests held in the flooding traffic classes: served late, they would be the slowest
 *   accepted requests.
 * - Closed-loop callers, which send a request after each answer, are accepted however slow the
 *   processor is: always on up to QUEUED_MAX connections, and beyond that while answers keep
 *   coming.
 * - While shedding, the queue may hold as many requests as are answered in 1.5 times the usual
 *   latency, so accepted requests stay fast and a slow disk still gets large commits. It ends when
 *   rejections stay below EXCESS_SHARE of answers for SHED_MS. A client that ignores `Retry-After`
 *   is still served at full rate, though not on every attempt.
 * - A traffic class below half of its fair share is neither dropped nor rejected, so one key's
 *   flood does not affect the others. A request admitted under this rule counts against its class
 *   until answered. Requests that fail authentication count until the next sampling window, so an
 *   attacker who uses another partner's key id quickly uses up that allowance; unknown keys have
 *   none. WAITING_MAX bounds the total.
 * - With a short queue a request costs one comparison and its answer one clock read. There is no
 *   timer: requests that find a long queue evaluate it.
 */
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import type { TrafficClass } from './traffic_class.js'

/** Twice the connection pool of a large backend, half of what one partner may have in flight. */
export const QUEUED_MAX = 1_000
/** As many as one partner may have in flight. */
export const BURST_MAX = 2 * QUEUED_MAX
/** Longer than a burst takes to arrive and than several commits with garbage collection. */
export const SUSTAINED_MS = 100
/** Longer than any pause of a process, which would otherwise seem to end the flood. */
export const SHED_MS = 500
/** Bounds of 1.5 times the usual latency. */
const TARGET_MIN_MS = 8
export const TARGET_MAX_MS = 40
/** One decide chunk: with fewer waiting the processor would idle. */
export const WAITING_MIN = 64
/**
 * Averaging window of the usual latency, in answers: far more than a burst or the start of a flood.
 */
const USUAL_LATENCY_ANSWERS = 16_384
/** Total bound: many small traffic classes add up. */
const WAITING_MAX = BURST_MAX + QUEUED_MAX / 2
/** Share of answers. A larger excess of requests is more than late commits explain. */
const EXCESS_SHARE = 0.1

/** `flood`: rejected, together with the requests held in the flooding traffic classes. */
export type AdmissionDecision = 'passes' | 'refused' | 'flood'

export interface LoadShedder {
  /** Commands at the processor. */
  readonly entered: number
  /** Requests held in the gateway. */
  readonly held: number
  /** A command was sent to the processor. */
  enter(trafficClass: TrafficClass): void
  /** The command is answered. `startedAt` is when its request began. */
  leave(trafficClass: TrafficClass, startedAt: Instant): void
  /** A request is held in the gateway. */
  hold(trafficClass: TrafficClass): void
  /** The request is no longer held. */
  release(trafficClass: TrafficClass): void
  /**
   * Whether to accept one more request. Called once for each request that would be sent or held.
   */
  admission(now: Instant, trafficClassOf: () => TrafficClass): AdmissionDecision
  /** Whether the traffic class takes part in a flood. */
  floods(trafficClass: TrafficClass): boolean
}

/** `long`: perhaps a burst. `flooded`: shedding, with the answer rate not measured yet. */
type State = 'short' | 'long' | 'sustained' | 'flooded' | 'shed'

export function createLoadShedder(clock: Clock): LoadShedder {
  let state: State = 'short'
  let usualLatencyMs = TARGET_MIN_MS / 2
  let entered = 0
  let held = 0
  /** Traffic classes with waiting requests. */
  let activeClasses = 0
  let waitingMax = QUEUED_MAX
  let since = instant(0)
  let windows = 0
  /** Counted since `since`, except requests that found capacity. */
  let requested = 0
  let answered = 0
  let refusedAt = since

  const evaluate = (now: Instant, trafficClass: TrafficClass): AdmissionDecision => {
    // A clock that moved back only starts a new window.
    if (state === 'short') moveTo('long', now, QUEUED_MAX)
    else if (now < since) moveTo(state, now, waitingMax)
    else if (now - since >= windowMs()) endWindow(now)
    const waiting = entered + held
    const isFull = waiting >= (isShedding() ? waitingMax : BURST_MAX)
    if (isFull && waiting < WAITING_MAX && isUnderShare(trafficClass, waitingMax)) {
      trafficClass.exempt = exemptOf(trafficClass) + 1
      trafficClass.window = windows
      return 'passes'
    }
    requested += 1
    if (!isFull) return 'passes'
    refusedAt = now
    if (state !== 'long') return 'refused'
    moveTo('flooded', now, entered / 2)
    return 'flood'
  }

  const isUnderShare = (trafficClass: TrafficClass, capacity: number): boolean => {
    const shares = activeClasses + (trafficClass.waiting === 0 ? 1 : 0)
    return (
      trafficClass.of !== 'unknown_keys' &&
      Math.max(trafficClass.waiting, exemptOf(trafficClass)) < capacity / shares / 2
    )
  }

  const exemptOf = ({ exempt, window }: TrafficClass): number => (window === windows ? exempt : 0)

  const isShedding = (): boolean => state === 'flooded' || state === 'shed'

  const windowMs = (): number => (state === 'shed' ? SHED_MS : SUSTAINED_MS)

  const endWindow = (now: Instant): void => {
    const to = nextState(now)
    moveTo(to, now, to === 'shed' ? answersPerTarget(now) : QUEUED_MAX)
  }

  const nextState = (now: Instant): State => {
    if (state === 'long') return 'sustained'
    const tolerated = answered * EXCESS_SHARE
    if (state === 'sustained') {
      return requested - answered > tolerated || entered + held >= BURST_MAX ? 'shed' : 'sustained'
    }
    if (now - refusedAt >= SHED_MS) return 'short'
    return state === 'flooded' || requested > tolerated ? 'shed' : 'short'
  }

  const answersPerTarget = (now: Instant): number => {
    const targetMs = Math.min(TARGET_MAX_MS, Math.max(TARGET_MIN_MS, 1.5 * usualLatencyMs))
    return (answered * targetMs) / (now - since)
  }

  const moveTo = (to: State, now: Instant, capacity: number): void => {
    state = to
    waitingMax = Math.min(QUEUED_MAX, Math.max(WAITING_MIN, capacity))
    since = now
    windows += 1
    requested = 0
    answered = 0
  }

  /** A clock that moved back says nothing about a latency. */
  const recordLatency = (latencyMs: number): void => {
    if (latencyMs < 0) return
    usualLatencyMs += (Math.min(latencyMs, TARGET_MAX_MS) - usualLatencyMs) / USUAL_LATENCY_ANSWERS
  }

  const add = (trafficClass: TrafficClass): void => {
    if (trafficClass.waiting === 0) activeClasses += 1
    trafficClass.waiting += 1
  }

  const take = (trafficClass: TrafficClass): void => {
    trafficClass.waiting -= 1
    if (trafficClass.waiting === 0) activeClasses -= 1
  }

  return {
    get entered() {
      return entered
    },
    get held() {
      return held
    },
    enter: (trafficClass) => {
      add(trafficClass)
      entered += 1
    },
    leave: (trafficClass, startedAt) => {
      take(trafficClass)
      if (trafficClass.exempt > 0) trafficClass.exempt -= 1
      entered -= 1
      answered += 1
      if (state === 'short') recordLatency(clock.now() - startedAt)
      else if (!isShedding() && entered + held < QUEUED_MAX) state = 'short'
    },
    hold: (trafficClass) => {
      add(trafficClass)
      held += 1
    },
    release: (trafficClass) => {
      take(trafficClass)
      held -= 1
    },
    admission: (now, trafficClassOf) =>
      entered + held < waitingMax ? 'passes' : evaluate(now, trafficClassOf()),
    floods: (trafficClass) => !isUnderShare(trafficClass, QUEUED_MAX),
  }
}
