/**
 * The options of all commands of operators.
 *
 * Owns: their names and kinds. Does not own: which command reads which (each command's own list).
 */
export const OPTIONS = {
  as: { type: 'string' },
  reason: { type: 'string' },
  evidence: { type: 'string' },
  cursor: { type: 'string' },
  resolved: { type: 'boolean' },
  body: { type: 'string' },
  header: { type: 'string', multiple: true },
  canonical: { type: 'string' },
  'secret-file': { type: 'string' },
  port: { type: 'string' },
  'forward-to': { type: 'string' },
  endpoint: { type: 'string' },
  since: { type: 'string' },
  'idempotency-key': { type: 'string' },
  'no-funds': { type: 'boolean' },
  json: { type: 'boolean' },
  from: { type: 'string' },
  to: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export type Option = keyof typeof OPTIONS

type ValueOf<Kind> = Kind extends { type: 'boolean' }
  ? boolean
  : Kind extends { multiple: true }
    ? readonly string[]
    : string

/** What was given. */
export type Flags = { readonly [Name in Option]?: ValueOf<(typeof OPTIONS)[Name]> }
