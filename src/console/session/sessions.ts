/**
 * The operators who are signed in. A session is in memory only: it holds the operator's token or
 * certificate, and ends with this process.
 *
 * - The cookie has a random id of 256 bits; a session is found by the digest of it.
 * - A session ends after IDLE_MS without a request, after LIFETIME_MS in any case, when its
 *   operator signs out, and as soon as the processor rejects its credential.
 * - A session of a certificate is found only on a connection with that certificate.
 */
import { createHash } from 'node:crypto'
import { sameText } from '../../auth/mac.js'
import { HOUR, MINUTE, plus, type Clock, type Instant } from '../../base/clock.js'
import type { Random } from '../../base/random.js'
import type { StatementRun } from './statement_run.js'
import type { Uplink } from './uplink.js'

export const IDLE_MS = 15 * MINUTE
export const LIFETIME_MS = 8 * HOUR
const SESSIONS_MAX = 200

/** Said once, on the next page. */
export interface Notice {
  readonly tone: 'good' | 'bad' | 'warn'
  readonly text: string
  /** Shown only here, never again. */
  readonly secret?: string
  /** Where it can be seen what has been changed. */
  readonly links?: readonly { readonly href: string; readonly text: string }[]
}

export interface Session {
  readonly name: string
  roles: readonly string[]
  readonly uplink: Uplink
  /** The fingerprint of the certificate that signed in. Null means that a token did. */
  readonly certificate: string | null
  /** In every form of the session. */
  readonly formToken: string
  readonly endsAt: Instant
  notice: Notice | undefined
  /** The last statement that was compared. */
  statementRun: StatementRun | undefined
}

export interface Sessions {
  /** @returns the value of the cookie */
  start(operator: Pick<Session, 'name' | 'roles' | 'uplink' | 'certificate'>): string
  /**
   * For a request of the operator.
   *
   * @param certificate the fingerprint of the connection's certificate, if it has one
   */
  find(cookie: string, certificate?: string): Session | undefined
  /** For a page that stays open or connects again, which is no request of the operator. */
  look(cookie: string, certificate?: string): Session | undefined
  /** For a page that stays open. */
  isOpen(cookie: string): boolean
  end(cookie: string): void
  count(): number
  close(): void
}

interface Kept {
  readonly session: Session
  usedAt: Instant
}

export function createSessions(clock: Clock, random: Random): Sessions {
  const sessions = new Map<string, Kept>()
  const secret = (): string => random.bytes(32).toString('base64url')

  const drop = (key: string): void => {
    sessions.get(key)?.session.uplink.close()
    sessions.delete(key)
  }
  const isOver = ({ session, usedAt }: Kept): boolean =>
    clock.now() >= session.endsAt || clock.now() >= plus(usedAt, IDLE_MS)
  const dropOver = (): void => {
    for (const [key, kept] of sessions) if (isOver(kept)) drop(key)
  }

  const kept = (cookie: string, certificate?: string): Kept | undefined => {
    dropOver()
    const found = sessions.get(keyOf(cookie))
    const needed = found?.session.certificate ?? null
    return needed === null || needed === certificate ? found : undefined
  }

  return {
    start: (operator) => {
      dropOver()
      const [oldest] = sessions.keys()
      if (sessions.size >= SESSIONS_MAX && oldest !== undefined) drop(oldest)
      const cookie = secret()
      const endsAt = plus(clock.now(), LIFETIME_MS)
      const session = {
        ...operator,
        formToken: secret(),
        endsAt,
        notice: undefined,
        statementRun: undefined,
      }
      sessions.set(keyOf(cookie), { session, usedAt: clock.now() })
      return cookie
    },
    find: (cookie, certificate) => {
      const found = kept(cookie, certificate)
      if (found !== undefined) found.usedAt = clock.now()
      return found?.session
    },
    look: (cookie, certificate) => kept(cookie, certificate)?.session,
    isOpen: (cookie) => {
      dropOver()
      return sessions.has(keyOf(cookie))
    },
    end: (cookie) => drop(keyOf(cookie)),
    count: () => {
      dropOver()
      return sessions.size
    },
    close: () => {
      for (const key of [...sessions.keys()]) drop(key)
    },
  }
}

const keyOf = (cookie: string): string => createHash('sha256').update(cookie).digest('hex')

export const isFormToken = (session: Session, token: unknown): boolean =>
  typeof token === 'string' && sameText(session.formToken, token)
