/**
 * The queue of commands that the processor has not answered: is it a burst, or does it stand?
 *
 * Owns: how many may wait, by how the queue has moved and in which lane. Does not own: what is
 * refused and how (limits, call), whose turn it is (backlog), what waits beside the cycle, such as
 * lists: that is not told here.
 *
 * Q1. A queue stands when it was longer than STANDING_MAX for STANDING_MS, so a burst after quiet
 *     of up to BURST_MAX is taken whole. It is shed when it stands and, for as long again, more is
 *     asked than answered or it is twice as long.
 * Q2. More than BURST_MAX within STANDING_MS is a flood. It is shed at once, and who is held in a
 *     lane that is part of it is refused with it: served late, they would be the slowest of all
 *     that is accepted.
 * Q3. Callers who wait for each answer before they ask again are taken as well, however slow the
 *     processor is: those on STANDING_MAX connections always, more as long as answers keep coming.
 * Q4. While it is shed, as many may wait as are answered in half again the time that an answer
 *     takes while it is short, whatever the pace is: who is accepted in a flood hardly notices it,
 *     and a slow disk still gets groups as large as it needs. That ends when next to nothing had to
 *     be refused for SHED_MS. Who goes on without heeding `Retry-After` is served at full pace even
 *     so, though not at every try.
 * Q5. A lane with less than half of an even share of what may wait has no part in it: it is neither
 *     dropped nor refused, so one key's flood does not shed the others. Whom that lets in counts
 *     until he is answered, and who never becomes a command until the next look: a stranger with
 *     a borrowed name soon finds its share used. Strangers have none. WAITING_MAX is the end.
 * Q6. A request that finds the queue short costs one comparison, its answer one look at the clock.
 *     There is no timer: whoever would make a long queue longer looks at it.
 */
import { instant, type Clock, type Instant } from '../src/base/clock.js'
import type { Lane } from './lanes.js'

/** Twice the connections of a large backend's pool, half of what one partner may have waiting. */
export const STANDING_MAX = 1_000
/** What one partner may have waiting. */
export const BURST_MAX = 2 * STANDING_MAX
/** A burst arrives in it, and many groups are committed in it, pauses for garbage included. */
export const STANDING_MS = 100
/** Longer than any pause of a process, or the flood would seem to be over in one. */
export const SHED_MS = 500
/** Half again what an answer usually takes, within these bounds. */
const TARGET_MIN_MS = 8
export const TARGET_MAX_MS = 40
/** A slice of the cycle: with fewer waiting the processor would idle. */
export const WAITING_MIN = 64
/** The mean of so many answers is usual. A burst or the first of a flood are far fewer. */
const USUAL_OF = 16_384
/** Whoever they are: many lanes with little each are many. */
const WAITING_MAX = BURST_MAX + STANDING_MAX / 2
/** Of what is answered: asked beyond it is more than groups of answers that come late. */
const EXCESS_SHARE = 0.1

/** `flood`: refused, and so are all that are held in the lanes that flood. */
export type Verdict = 'passes' | 'refused' | 'flood'

export interface StandingQueue {
  /** Commands that the processor has. */
  readonly entered: number
  /** Calls that are held in the gateway. */
  readonly held: number
  /** The processor has one more. */
  enter(lane: Lane): void
  /** It is answered. `startedAt`: the request's own beginning. */
  leave(lane: Lane, startedAt: Instant): void
  /** One more is held in the gateway. */
  hold(lane: Lane): void
  /** It is not any more. */
  release(lane: Lane): void
  /** Whether one more is too many. Asked once for each that would enter or be held. */
  verdict(now: Instant, laneOf: () => Lane): Verdict
  /** Whether the lane has its part in a flood. */
  floods(lane: Lane): boolean
}

/** `long`: it may be a burst. `flooded`: shed, and not yet known how much is answered meanwhile. */
type State = 'short' | 'long' | 'standing' | 'flooded' | 'shed'

export function createStandingQueue(clock: Clock): StandingQueue {
  let state: State = 'short'
  let usualMs = TARGET_MIN_MS / 2
  let entered = 0
  let held = 0
  /** In which somebody waits. */
  let lanes = 0
  let mayWait = STANDING_MAX
  let since = instant(0)
  let looks = 0
  /** Since then. What was asked while fewer waited than may is not counted. */
  let asked = 0
  let answered = 0
  let refusedAt = since

  const judge = (now: Instant, lane: Lane): Verdict => {
    // A clock that is set back only starts another look.
    if (state === 'short') turn('long', now, STANDING_MAX)
    else if (now < since) turn(state, now, mayWait)
    else if (now - since >= lookAfterMs()) look(now)
    const waiting = entered + held
    const isTooMany = waiting >= (isShed() ? mayWait : BURST_MAX)
    if (isTooMany && waiting < WAITING_MAX && hasLittle(lane, mayWait)) {
      lane.exempt = exemptOf(lane) + 1
      lane.look = looks
      return 'passes'
    }
    asked += 1
    if (!isTooMany) return 'passes'
    refusedAt = now
    if (state !== 'long') return 'refused'
    turn('flooded', now, entered / 2)
    return 'flood'
  }

  const hasLittle = (lane: Lane, many: number): boolean => {
    const shares = lanes + (lane.waiting === 0 ? 1 : 0)
    return lane.of !== 'strangers' && Math.max(lane.waiting, exemptOf(lane)) < many / shares / 2
  }

  const exemptOf = ({ exempt, look }: Lane): number => (look === looks ? exempt : 0)

  const isShed = (): boolean => state === 'flooded' || state === 'shed'

  const lookAfterMs = (): number => (state === 'shed' ? SHED_MS : STANDING_MS)

  const look = (now: Instant): void => {
    const to = nextState(now)
    turn(to, now, to === 'shed' ? answeredInTime(now) : STANDING_MAX)
  }

  const nextState = (now: Instant): State => {
    if (state === 'long') return 'standing'
    const bearable = answered * EXCESS_SHARE
    if (state === 'standing') {
      return asked - answered > bearable || entered + held >= BURST_MAX ? 'shed' : 'standing'
    }
    if (now - refusedAt >= SHED_MS) return 'short'
    return state === 'flooded' || asked > bearable ? 'shed' : 'short'
  }

  const answeredInTime = (now: Instant): number => {
    const targetMs = Math.min(TARGET_MAX_MS, Math.max(TARGET_MIN_MS, 1.5 * usualMs))
    return (answered * targetMs) / (now - since)
  }

  const turn = (to: State, now: Instant, many: number): void => {
    state = to
    mayWait = Math.min(STANDING_MAX, Math.max(WAITING_MIN, many))
    since = now
    looks += 1
    asked = 0
    answered = 0
  }

  const learn = (tookMs: number): void => {
    usualMs += (Math.min(tookMs, TARGET_MAX_MS) - usualMs) / USUAL_OF
  }

  const add = (lane: Lane): void => {
    if (lane.waiting === 0) lanes += 1
    lane.waiting += 1
  }

  const take = (lane: Lane): void => {
    lane.waiting -= 1
    if (lane.waiting === 0) lanes -= 1
  }

  return {
    get entered() {
      return entered
    },
    get held() {
      return held
    },
    enter: (lane) => {
      add(lane)
      entered += 1
    },
    leave: (lane, startedAt) => {
      take(lane)
      if (lane.exempt > 0) lane.exempt -= 1
      entered -= 1
      answered += 1
      if (state === 'short') learn(clock.now() - startedAt)
      else if (!isShed() && entered + held < STANDING_MAX) state = 'short'
    },
    hold: (lane) => {
      add(lane)
      held += 1
    },
    release: (lane) => {
      take(lane)
      held -= 1
    },
    verdict: (now, laneOf) => (entered + held < mayWait ? 'passes' : judge(now, laneOf())),
    floods: (lane) => !hasLittle(lane, STANDING_MAX),
  }
}
