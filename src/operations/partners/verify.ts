/**
 * `verify`: explains why a signature does not verify: the failing check, and the first difference
 * between the two canonical requests.
 *
 * - Never prints a secret.
 * - Runs locally: it does not check whether the key is active or the nonce was used.
 */
import { bodyHash } from '../../auth/canonical.js'
import { parseKeyId } from '../../auth/request_shape.js'
import { checkSignature, type SignatureReport } from '../../auth/signature_check.js'
import { signatureMatches, signingKey, type SigningSecret } from '../../auth/signature.js'
import { REPEATED, type HeaderValue } from '../../auth/verify.js'
import {
  bytesIn,
  CommandFault,
  type CliCommand,
  type Context,
  type Report,
} from '../cli/command.js'
import { firstDifference, shown, type FirstDifference } from './first_difference.js'
import type { Flags } from '../cli/options.js'
import { table } from '../cli/terminal.js'

/** Needs the running stack, or holds by construction here. */
const NOT_CHECKED = ['key_active', 'environment', 'body_sha256']

export const verify: CliCommand = {
  usage: 'verify METHOD PATH',
  about: "explain why a partner's signature verifies or not",
  options: ['header', 'body', 'canonical', 'secret-file'],
  run: (context, [method = '', path = '']) => {
    const { flags, clock, sandbox } = context
    const headers = signatureHeaders(flags, sandbox.brand)
    const keyId = typeof headers.keyId === 'string' ? headers.keyId : ''
    const secret = secretOf(context, keyId)
    const report = checkSignature(
      {
        ...headers,
        method,
        path: path.split('?', 1).join(),
        bodyHash: bodyHash(flags.body === undefined ? Buffer.alloc(0) : bytesIn(flags.body)),
        claimedBodyHash: undefined,
      },
      () => ({ secret, revokedAt: undefined }),
      clock.now(),
      parseKeyId(keyId)?.environment,
    )
    const theirs = flags.canonical === undefined ? undefined : bytesIn(flags.canonical).toString()
    const compared = theirs === undefined ? undefined : comparison(report, theirs, headers, secret)
    return Promise.resolve(reportOf(report, compared))
  },
}

interface Comparison {
  /** The partner's text produces the partner's signature: the secret is correct. */
  readonly secret_matches: boolean
  readonly difference: FirstDifference | undefined
}

type SignatureHeaders = Readonly<Record<'keyId' | 'timestamp' | 'nonce' | 'signature', HeaderValue>>

function signatureHeaders({ header = [] }: Flags, brand: string): SignatureHeaders {
  const values = new Map<string, HeaderValue>()
  for (const text of header) {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(text) ?? []
    if (name === undefined) throw new CommandFault(`${text} is not a header, use NAME: VALUE.`)
    const key = name.toLowerCase()
    values.set(key, values.has(key) ? REPEATED : value)
  }
  const named = (name: string): HeaderValue => values.get(`x-${brand}-${name}`.toLowerCase())
  return {
    keyId: named('Key-Id'),
    timestamp: named('Timestamp'),
    nonce: named('Nonce'),
    signature: named('Signature'),
  }
}

/** From `--secret-file`, else of the demo partner. */
function secretOf({ flags, sandbox }: Context, keyId: string): SigningSecret {
  const file = flags['secret-file']
  if (file !== undefined)
    return signingKey(
      bytesIn(file)
        .toString()
        .replace(/\r?\n$/, ''),
    )
  if (keyId === '' || keyId === sandbox.key_id) return signingKey(sandbox.signing_secret)
  throw new CommandFault(`This needs the secret of ${keyId}: --secret-file FILE.`)
}

function comparison(
  { canonical_request: ours }: SignatureReport,
  theirs: string,
  { signature }: SignatureHeaders,
  secret: SigningSecret,
): Comparison {
  return {
    secret_matches: typeof signature === 'string' && signatureMatches(secret, theirs, signature),
    difference: ours === null ? undefined : firstDifference(theirs, ours),
  }
}

function reportOf(report: SignatureReport, compared: Comparison | undefined): Report {
  const { valid, canonical_request } = report
  const checks = report.checks.filter(({ check }) => !NOT_CHECKED.includes(check))
  return {
    value: { valid, checks, canonical_request, ...compared },
    exitCode: valid ? 0 : 1,
    lines: [
      ...canonicalLines(canonical_request),
      'The checks:',
      table(
        checks.map(({ check, result, help = '' }) => [`  ${check}`, result, help]),
        [],
      ),
      ...(compared === undefined ? [] : comparisonLines(compared)),
      valid ? 'The signature is valid.' : 'The service would reject this call.',
    ],
  }
}

function canonicalLines(canonical: string | null): string[] {
  if (canonical === null) return ['There is no canonical request: see the checks.']
  const lines = canonical.split(/(?<=\n)/)
  return [
    'The canonical request that the service verifies, line by line:',
    ...lines.map((line) => `  ${shown(line)}`),
  ]
}

function comparisonLines({ secret_matches, difference }: Comparison): string[] {
  const secret = secret_matches
    ? 'Their text produces their signature: the secret is correct.'
    : 'Their text does not produce their signature: wrong secret, or another text was signed.'
  if (difference === undefined) return [secret, 'Both texts are equal.']
  const { line, column, theirs, ours } = difference
  return [
    secret,
    `The first difference is in line ${line}, column ${column}:`,
    `  theirs  ${theirs}`,
    `  ours    ${ours}`,
  ]
}
