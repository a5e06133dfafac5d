/**
 * The options of all operator commands: name, value, meaning.
 *
 * Does not own: which command takes which (each command's own list).
 */
export const OPTIONS = {
  as: { value: 'NAME', about: 'who does it, for the action log' },
  reason: { value: 'TEXT', about: 'why, for the action log' },
  evidence: { value: 'TEXT', about: 'what proves it: a statement line, a ticket' },
  cursor: { value: 'CURSOR', about: 'continue a list: the next_cursor of the page before' },
  resolved: { about: 'resolved ones instead of open ones' },
  body: { value: 'FILE', about: 'the request body, byte for byte' },
  header: { value: 'NAME:VALUE', about: 'a request header; repeat it for each', many: true },
  canonical: { value: 'FILE', about: 'the canonical request as the partner built it' },
  'secret-file': { value: 'FILE', about: 'a file that holds the signing secret' },
  port: { value: 'PORT', about: 'port of the local receiver' },
  'forward-to': { value: 'URL', about: 'also post each webhook to this address' },
  endpoint: { value: 'ENDPOINT', about: 'only this webhook endpoint' },
  since: { value: 'MOMENT', about: 'only what happened at or after this moment' },
  'idempotency-key': { value: 'KEY', about: 'the same key again does nothing a second time' },
  'no-funds': { about: 'without the test funds of a new sandbox partner' },
  force: { about: 'also a change that is larger than usual' },
  json: { about: 'print JSON for machines' },
  from: { value: 'DAY', about: 'first day of the period' },
  to: { value: 'DAY', about: 'first day after the period' },
  out: { value: 'FILE', about: 'write the findings to this file' },
  statement: { value: 'FILE', about: "the rail's statement since the copy was made" },
  'no-statement': { about: 'the reason says how else the rail was checked' },
  match: { value: 'PAYMENT', about: 'the held payment whose execution it is' },
  dismiss: { about: 'no payment of ours will claim it' },
} as const satisfies Record<string, OptionSpec>

interface OptionSpec {
  /** Placeholder of its value; an option without one is a switch. */
  readonly value?: string
  readonly about: string
  /** May be given several times. */
  readonly many?: boolean
}

export type Option = keyof typeof OPTIONS

type ValueOf<Spec> = Spec extends { many: true }
  ? readonly string[]
  : Spec extends { value: string }
    ? string
    : boolean

/** What was given. */
export type Flags = { readonly [Name in Option]?: ValueOf<(typeof OPTIONS)[Name]> }
