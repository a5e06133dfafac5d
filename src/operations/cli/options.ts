/** The options of all operator commands; each command declares which of them it takes. */
import { CORRIDOR_NAMES } from '../../qr/corridor.js'

export const OPTIONS = {
  as: {
    value: 'NAME',
    about: 'your own name as operator; the token proves it, so it can be omitted',
  },
  reason: { value: 'TEXT', about: 'reason, for the action log' },
  evidence: { value: 'TEXT', about: 'proof, e.g. a statement line or a ticket' },
  by: { value: 'NAME', about: 'only actions of this operator' },
  action: { value: 'ACTION', about: 'only this action, e.g. approve_payout' },
  subject: { value: 'ID', about: 'only actions on this payment, partner, key or other subject' },
  cursor: { value: 'CURSOR', about: 'continue a list after the previous page' },
  resolved: { about: 'list resolved entries instead of open ones' },
  body: { value: 'FILE', about: 'the request body, byte for byte' },
  header: { value: 'NAME:VALUE', about: 'a request header; repeatable', many: true },
  canonical: { value: 'FILE', about: 'the canonical request as the partner built it' },
  'secret-file': { value: 'FILE', about: 'file with the signing secret' },
  port: { value: 'PORT', about: 'port of the local receiver' },
  'forward-to': { value: 'URL', about: 'also post each webhook to this address' },
  endpoint: { value: 'ENDPOINT', about: 'only this webhook endpoint' },
  since: { value: 'MOMENT', about: 'only from this time on' },
  'idempotency-key': { value: 'KEY', about: 'makes a repeated command safe' },
  days: { value: 'DAYS', about: 'how many of the last days, 1 to 366; default 30' },
  corridors: {
    value: 'CORRIDORS',
    about: `corridors of the partner, by commas: ${CORRIDOR_NAMES.join(', ')}; none allows none`,
  },
  'no-funds': { about: 'create without test funds' },
  yes: { about: 'answer the question of the command with yes' },
  force: { about: 'allow an unusually large change' },
  deep: { about: 'also compare every index of PostgreSQL with its table: minutes for large books' },
  roles: { value: 'ROLES', about: 'roles of an operator, comma-separated: read, operate, decide' },
  partners: {
    value: 'NAMES',
    about: 'the only partners that a service acts for, comma-separated',
  },
  certificate: {
    value: 'NAME',
    about: 'common name of its client certificate, which it shows instead of a token',
  },
  'token-sha256': {
    value: 'DIGEST',
    about: 'SHA-256 of the token that its owner has made with callers token',
  },
  'public-key': {
    value: 'FILE',
    about: "the partner's RSA public key (PEM): only the partner can read the secret",
  },
  'token-file': { value: 'FILE', about: 'write the token to this file, with mode 0600' },
  shard: { value: 'SHARD', about: 'call only the processor that has this shard' },
  json: { about: 'print JSON for machines' },
  before: { value: 'DAY', about: 'the first day (UTC) whose payments stay' },
  at: { value: 'DAY', about: 'the moment: the beginning of a day (UTC), or a timestamp' },
  from: { value: 'DAY', about: 'first day of the period' },
  until: { value: 'DAY', about: 'first day after the period; default: the day after --from' },
  to: {
    value: 'NAME',
    about: 'the processor that takes the shard, or the shard that takes the partner',
  },
  check: { about: 'only report what would be done, and what prevents it' },
  out: { value: 'FILE', about: 'write the lines to this file' },
  statement: { value: 'FILE', about: "the rail's statement since the copy was made" },
  incomplete: { about: 'release in spite of a statement that cannot be right' },
  'no-statement': {
    about: 'there is no statement; the reason says how the rail was checked instead',
  },
  match: { value: 'PAYMENT', about: 'the held payment that was executed' },
  'other-than': {
    value: 'INSTRUCTION',
    about: 'an equal orphan execution that did not pay it; repeatable',
    many: true,
  },
  every: { value: 'TIME', about: 'make one again and again, e.g. 15m, 1h, 1d' },
  keep: { value: 'NUMBER', about: 'keep this many with --every; default 48' },
  'with-keys': { about: 'copy the keys and tokens too, which open every secret of the copy' },
  rail: { value: 'NAME', about: 'a rail, by its name in RAILS_FILE' },
  corridor: {
    value: 'CORRIDOR',
    about: `a corridor: ${CORRIDOR_NAMES.join(', ')}, or of payouts e.g. TH/THB`,
  },
  month: { value: 'MONTH', about: 'a calendar month (UTC), e.g. 2026-10' },
  environment: { value: 'ENV', about: 'sandbox or production' },
  dismiss: { about: 'decide that no held payment matches it' },
} as const satisfies Record<string, OptionSpec>

interface OptionSpec {
  /** Placeholder of the value. Absent if the option is a switch. */
  readonly value?: string
  readonly about: string
  /** Repeatable. */
  readonly many?: boolean
}

export type Option = keyof typeof OPTIONS

type ValueOf<Spec> = Spec extends { many: true }
  ? readonly string[]
  : Spec extends { value: string }
    ? string
    : boolean

/** Values of the options on the command line. */
export type Flags = { readonly [Name in Option]?: ValueOf<(typeof OPTIONS)[Name]> }
