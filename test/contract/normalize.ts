/**
 * Makes recorded requests and answers the same in every recording.
 *
 * - Ids are numbered by prefix in the order of their appearance.
 * - Times, tokens, secrets and cursors have a fixed value by the name of their member.
 * - Everything else is as recorded.
 */
const BASE = Date.parse('2026-11-21T04:35:40.123Z')
const after = (ms: number): string => new Date(BASE + ms).toISOString()

export const TIMESTAMP = after(0)
export const KEY_ID = 'demo_sandbox_2026q4'
/** Placeholders; neither secret is in use. */
export const SIGNING_SECRET = 'sk_nSxVUCH-1LHQEo62vcwAhYkDMaPxidcE9B6pS8tE3rg'
export const WEBHOOK_SECRET = 'whsec_Zq3bLwV0mQe7uXk2Yt9sRf4hJn8pCd1aGv6oTi5xBzM'

/** By the name of the member. */
export const SHOWN_TEXTS = {
  created_at: after(0),
  processing_at: after(0),
  at: after(40),
  ended_at: after(40),
  newest_dead_at: after(40),
  next_attempt_at: after(5_000),
  completed_at: after(2_187),
  failed_at: after(2_187),
  occurred_at: after(2_187),
  reversed_at: after(3_187),
  authorized_at: after(25_358),
  captured_at: after(27_779),
  requested_at: after(90_000),
  refunded_at: after(93_401),
  cancelled_at: after(60_000),
  expired_at: after(65_000),
  activate_at: after(3_600_000),
  expires_at: after(60_000),
  server_time: after(250),
  session_token: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.c2Vzc2lvbg.V9b2uF4Yc0s7Qm1kXw3eTg',
  receipt_token: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.cmVjZWlwdA.p6Zr8LhD2nJ5vGq0aKyBsU',
  secret: WEBHOOK_SECRET,
  next_cursor: 'djEuMDFLQUowVjhYMEFCQ0RFRkdISktNTlBRUlM',
}

const TEXTS: Readonly<Record<string, string>> = SHOWN_TEXTS

const NUMBERS: Readonly<Record<string, number>> = {
  session_expires_at: Math.floor(BASE / 1_000) + 300,
  receipt_token_expires_at: Math.floor(BASE / 1_000) + 300,
  expires_at: BASE + 300_000,
  latency_ms: 41,
}

const IDS = /\b(pi|qt|pout|ben|evt|we|dlv|req|dep|fxc|fxq)_[0-9A-HJKMNP-TV-Z]{26}/g
const ENTRIES = /\bbtx_[\w-]{22}/g
const TRANSACTIONS = /\bsbx_[0-9a-f]{24}/g
const KEYS = /\bdemo_sandbox_[0-9]{4}q[1-4]\b/g

export interface Normalizer {
  /** Replaces this text by the other one from now on, also inside longer texts. */
  replace(recorded: string, shown: string): void
  text(recorded: string): string
  json(recorded: unknown): unknown
}

export function createNormalizer(): Normalizer {
  const replaced = new Map<string, string>()
  const known = new Map<string, string>()
  const counts = new Map<string, number>()

  const numbered = (recorded: string, prefix: string, length: number): string => {
    let shown = known.get(recorded)
    if (shown === undefined) {
      const count = (counts.get(prefix) ?? 0) + 1
      counts.set(prefix, count)
      shown = prefix + String(count).padStart(length, '0')
      known.set(recorded, shown)
    }
    return shown
  }

  const text = (recorded: string): string => {
    let shown = recorded
    for (const [one, other] of replaced) shown = shown.replaceAll(one, other)
    return shown
      .replaceAll(IDS, (id, prefix: string) => numbered(id, `${prefix}_01KAJ0V8X0`, 16))
      .replaceAll(ENTRIES, (id) => numbered(id, 'btx_', 22))
      .replaceAll(TRANSACTIONS, (id) => numbered(id, 'sbx_', 24))
      .replaceAll(KEYS, KEY_ID)
  }

  const member = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return TEXTS[name] ?? text(value)
    if (typeof value === 'number') return NUMBERS[name] ?? value
    return json(value)
  }

  const json = (recorded: unknown): unknown => {
    if (typeof recorded === 'string') return text(recorded)
    if (Array.isArray(recorded)) return recorded.map(json)
    if (typeof recorded !== 'object' || recorded === null) return recorded
    return Object.fromEntries(
      Object.entries(recorded).map(([name, value]) => [name, member(name, value)]),
    )
  }

  return { replace: (recorded, shown) => void replaced.set(recorded, shown), text, json }
}
