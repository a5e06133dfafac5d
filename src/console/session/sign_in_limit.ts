/**
 * Bounds failed sign-ins: of each source, and of all sources together, because a proxy or a botnet
 * hides behind either.
 *
 * - A sign-in is refused while its bucket is empty; each failure takes from it. One in progress has
 *   taken already: others that come meanwhile are not free.
 * - A source without a failure has a bound of its own for all of them, so that some others with
 *   failures do not keep it out.
 * - Other clients cannot use up what operators need: a token that has signed in since the start is
 *   not bounded until it is refused. A certificate that TLS has verified is a source of its own,
 *   which the bound of all sources does not count.
 */
import { createHash } from 'node:crypto'
import { MINUTE, SECOND, type Clock } from '../../base/clock.js'
import { sourceOf } from '../../base/network.js'

const PER_SOURCE = 5
const IN_ALL = 50
/** In all, for the attempt of a source that has not failed. */
const FIRST_IN_ALL = 1_000
const WINDOW_MS = MINUTE
const SOURCES_MAX = 10_000
const KNOWN_TOKENS_MAX = 1_000

export interface SignInAttempt {
  readonly address: string
  /** The fingerprint of the connection's certificate, if TLS has verified one. */
  readonly certificate: string | undefined
  /** Undefined means that it is none that an operator could have, or a certificate signs in. */
  readonly token: string | undefined
}

/** `unanswered`: the processor said neither. */
export type SignInOutcome = 'signed_in' | 'refused' | 'unanswered'

export interface SignInLimit {
  /** Seconds until the next attempt is accepted. 0 means now. */
  waitSeconds(attempt: SignInAttempt): number
  /** @returns to be called with its outcome; without one it is refused */
  begin(attempt: SignInAttempt): (outcome: SignInOutcome) => void
}

export function createSignInLimit(clock: Clock): SignInLimit {
  let since = clock.now()
  let failures = new Map<string, number>()
  let inAll = 0
  const known = createKnownTokens()

  const turn = (): void => {
    if (clock.now() - since < WINDOW_MS && failures.size < SOURCES_MAX) return
    since = clock.now()
    failures = new Map()
    inAll = 0
  }
  const take = (source: string, isUnverified: boolean, count: 1 | -1): void => {
    failures.set(source, (failures.get(source) ?? 0) + count)
    if (isUnverified) inAll += count
  }
  return {
    waitSeconds: ({ address, certificate, token }) => {
      turn()
      if (known.has(token)) return 0
      const own = failures.get(certificate ?? sourceOf(address)) ?? 0
      const all = certificate === undefined ? inAll : 0
      if (own < PER_SOURCE && all < (own === 0 ? FIRST_IN_ALL : IN_ALL)) return 0
      return Math.max(1, Math.ceil((since + WINDOW_MS - clock.now()) / SECOND))
    },
    begin: ({ address, certificate, token }) => {
      turn()
      const taken = failures
      const source = certificate ?? sourceOf(address)
      const isUnverified = certificate === undefined
      take(source, isUnverified, 1)
      return (outcome) => {
        if (outcome === 'signed_in') known.add(token)
        if (outcome === 'refused') return known.remove(token)
        if (taken !== failures) return
        take(source, isUnverified, -1)
      }
    },
  }
}

/** Tokens that have signed in, by their digests; the latest ones. */
function createKnownTokens() {
  const digests = new Set<string>()
  const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
  return {
    has: (token: string | undefined): boolean =>
      token !== undefined && digests.has(digestOf(token)),
    add: (token: string | undefined): void => {
      if (token === undefined) return
      digests.delete(digestOf(token))
      digests.add(digestOf(token))
      const [oldest] = digests
      if (digests.size > KNOWN_TOKENS_MAX && oldest !== undefined) digests.delete(oldest)
    },
    remove: (token: string | undefined): void => {
      if (token !== undefined) digests.delete(digestOf(token))
    },
  }
}
