/**
 * The queue of commands that the processor has not answered: is it a burst, or does it stand?
 *
 * Owns: how many may wait, by how the queue has moved and in which traffic class. Does not own:
 * what is refused and how (limits, request_handler), whose turn it is (request_scheduler), what
 * waits beside the cycle, such as lists: that is not told here.
 *
 * - A queue stands when it was longer than QUEUED_MAX for SUSTAINED_MS, so a burst after quiet
 *   of up to BURST_MAX is taken whole. It is shed when it stands and, for as long again, more is
 *   asked than answered or it is twice as long.
 * - More than BURST_MAX within SUSTAINED_MS is a flood. It is shed at once, and who is held in a
 *   traffic class that is part of it is refused with it: served late, they would be the slowest of
 *   all that is accepted.
 * - Callers who wait for each answer before they ask again are taken as well, however slow the
 *   processor is: those on QUEUED_MAX connections always, more as long as answers keep coming.
 * - While it is shed, as many may wait as are answered in half again the time that an answer
 *   takes while it is short, whatever the pace is: who is accepted in a flood hardly notices it,
 *   and a slow disk still gets groups as large as it needs. That ends when next to nothing had to
 *   be refused for SHED_MS. Who goes on without heeding `Retry-After` is served at full pace even
 *   so, though not at every try.
 * - A traffic class with less than half of an even share of what may wait has no part in it: it is
 *   neither dropped nor refused, so one key's flood does not shed the others. Whom that lets in
 *   counts until he is answered, and who never becomes a command until the next look: a stranger
 *   with a borrowed name soon finds its share used. Strangers have none. WAITING_MAX is the end.
 * - A request that finds the queue short costs one comparison, its answer one look at the clock.
 *   There is no timer: whoever would make a long queue longer looks at it.
 */
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import type { TrafficClass } from './traffic_class.js'

/** Twice the connections of a large backend's pool, half of what one partner may have waiting. */
export const QUEUED_MAX = 1_000
/** What one partner may have waiting. */
export const BURST_MAX = 2 * QUEUED_MAX
/** A burst arrives in it, and many groups are committed in it, pauses for garbage included. */
export const SUSTAINED_MS = 100
/** Longer than any pause of a process, or the flood would seem to be over in one. */
export const SHED_MS = 500
/** Half again what an answer usually takes, within these bounds. */
const TARGET_MIN_MS = 8
export const TARGET_MAX_MS = 40
/** A slice of the cycle: with fewer waiting the processor would idle. */
export const WAITING_MIN = 64
/** The mean of so many answers is usual. A burst or the first of a flood are far fewer. */
const USUAL_OF = 16_384
/** Whoever they are: many traffic classes with little each are many. */
const WAITING_MAX = BURST_MAX + QUEUED_MAX / 2
/** Of what is answered: asked beyond it is more than groups of answers that come late. */
const EXCESS_SHARE = 0.1

/** `flood`: refused, and so are all that are held in the traffic classes that flood. */
export type Admission = 'passes' | 'refused' | 'flood'

export interface LoadShedder {
  /** Commands that the processor has. */
  readonly entered: number
  /** Calls that are held in the gateway. */
  readonly held: number
  /** The processor has one more. */
  enter(trafficClass: TrafficClass): void
  /** It is answered. `startedAt`: the request's own beginning. */
  leave(trafficClass: TrafficClass, startedAt: Instant): void
  /** One more is held in the gateway. */
  hold(trafficClass: TrafficClass): void
  /** It is not any more. */
  release(trafficClass: TrafficClass): void
  /** Whether one more is too many. Asked once for each that would enter or be held. */
  admission(now: Instant, trafficClassOf: () => TrafficClass): Admission
  /** Whether the traffic class has its part in a flood. */
  floods(trafficClass: TrafficClass): boolean
}

/** `long`: it may be a burst. `flooded`: shed, and not yet known how much is answered meanwhile. */
type State = 'short' | 'long' | 'standing' | 'flooded' | 'shed'

export function createLoadShedder(clock: Clock): LoadShedder {
  let state: State = 'short'
  let usualMs = TARGET_MIN_MS / 2
  let entered = 0
  let held = 0
  /** In which somebody waits. */
  let activeClasses = 0
  let mayWait = QUEUED_MAX
  let since = instant(0)
  let windows = 0
  /** Since then. What was asked while fewer waited than may is not counted. */
  let requested = 0
  let answered = 0
  let refusedAt = since

  const evaluate = (now: Instant, trafficClass: TrafficClass): Admission => {
    // A clock that is set back only starts another look.
    if (state === 'short') moveTo('long', now, QUEUED_MAX)
    else if (now < since) moveTo(state, now, mayWait)
    else if (now - since >= lookAfterMs()) window(now)
    const waiting = entered + held
    const isTooMany = waiting >= (isShed() ? mayWait : BURST_MAX)
    if (isTooMany && waiting < WAITING_MAX && hasLittle(trafficClass, mayWait)) {
      trafficClass.exempt = exemptOf(trafficClass) + 1
      trafficClass.look = windows
      return 'passes'
    }
    requested += 1
    if (!isTooMany) return 'passes'
    refusedAt = now
    if (state !== 'long') return 'refused'
    moveTo('flooded', now, entered / 2)
    return 'flood'
  }

  const hasLittle = (trafficClass: TrafficClass, many: number): boolean => {
    const shares = activeClasses + (trafficClass.waiting === 0 ? 1 : 0)
    return (
      trafficClass.of !== 'unknown_keys' &&
      Math.max(trafficClass.waiting, exemptOf(trafficClass)) < many / shares / 2
    )
  }

  const exemptOf = ({ exempt, look: window }: TrafficClass): number =>
    window === windows ? exempt : 0

  const isShed = (): boolean => state === 'flooded' || state === 'shed'

  const lookAfterMs = (): number => (state === 'shed' ? SHED_MS : SUSTAINED_MS)

  const window = (now: Instant): void => {
    const to = nextState(now)
    moveTo(to, now, to === 'shed' ? answeredInTime(now) : QUEUED_MAX)
  }

  const nextState = (now: Instant): State => {
    if (state === 'long') return 'standing'
    const bearable = answered * EXCESS_SHARE
    if (state === 'standing') {
      return requested - answered > bearable || entered + held >= BURST_MAX ? 'shed' : 'standing'
    }
    if (now - refusedAt >= SHED_MS) return 'short'
    return state === 'flooded' || requested > bearable ? 'shed' : 'short'
  }

  const answeredInTime = (now: Instant): number => {
    const targetMs = Math.min(TARGET_MAX_MS, Math.max(TARGET_MIN_MS, 1.5 * usualMs))
    return (answered * targetMs) / (now - since)
  }

  const moveTo = (to: State, now: Instant, many: number): void => {
    state = to
    mayWait = Math.min(QUEUED_MAX, Math.max(WAITING_MIN, many))
    since = now
    windows += 1
    requested = 0
    answered = 0
  }

  const recordLatency = (tookMs: number): void => {
    usualMs += (Math.min(tookMs, TARGET_MAX_MS) - usualMs) / USUAL_OF
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
      else if (!isShed() && entered + held < QUEUED_MAX) state = 'short'
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
      entered + held < mayWait ? 'passes' : evaluate(now, trafficClassOf()),
    floods: (trafficClass) => !hasLittle(trafficClass, QUEUED_MAX),
  }
}
