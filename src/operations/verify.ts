/**
 * Says why a partner's signature is not ours: which check fails, and where the text it was made
 * over parts from the one we make.
 *
 * Owns: reading the call as the partner sent it. Does not own: the checks (auth/signature_check).
 *
 * - The secret is never printed.
 * - The stack is not asked: whether the key is active, and whether the nonce was used, is not
 *   known here.
 */
import { bodyHash } from '../auth/canonical.js'
import { parseKeyId } from '../auth/request_shape.js'
import { judgeSignature, type SignatureReport } from '../auth/signature_check.js'
import { signatureMatches, signingKey, type SigningSecret } from '../auth/signature.js'
import { REPEATED, type HeaderValue } from '../auth/verify.js'
import { bytesIn, CommandFault, type Command, type Context, type Report } from './command.js'
import { firstDifference, shown, type FirstDifference } from './first_difference.js'
import type { Flags } from './options.js'
import { table } from './terminal.js'

/** Not asked here, or right by itself: the key's own environment is the one asked for. */
const LEFT_OUT = ['key_active', 'environment', 'body_sha256']

export const verify: Command = {
  usage: 'verify METHOD PATH',
  about: "explain whether and why a partner's signature verifies",
  options: ['header', 'body', 'canonical', 'secret-file'],
  run: (context, [method = '', path = '']) => {
    const { flags, clock, sandbox } = context
    const headers = signatureHeaders(flags, sandbox.brand)
    const keyId = typeof headers.keyId === 'string' ? headers.keyId : ''
    const secret = secretOf(context, keyId)
    const report = judgeSignature(
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
    return Promise.resolve(told(report, compared))
  },
}

interface Comparison {
  /** The partner's own text makes the partner's signature: the secret is right. */
  readonly signsTheirs: boolean
  readonly difference: FirstDifference | undefined
}

type SignatureHeaders = Readonly<Record<'keyId' | 'timestamp' | 'nonce' | 'signature', HeaderValue>>

function signatureHeaders({ header = [] }: Flags, brand: string): SignatureHeaders {
  const values = new Map<string, HeaderValue>()
  for (const text of header) {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(text) ?? []
    if (name === undefined) throw new CommandFault(`${text} is no header: NAME: VALUE.`)
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

/** Of the file that is named, else of the demo partner. */
function secretOf({ flags, sandbox }: Context, keyId: string): SigningSecret {
  const file = flags['secret-file']
  if (file !== undefined)
    return signingKey(
      bytesIn(file)
        .toString()
        .replace(/\r?\n$/, ''),
    )
  if (keyId === '' || keyId === sandbox.key_id) return signingKey(sandbox.signing_secret)
  throw new CommandFault(`The secret of ${keyId} is needed: --secret-file FILE.`)
}

function comparison(
  { canonical_request: ours }: SignatureReport,
  theirs: string,
  { signature }: SignatureHeaders,
  secret: SigningSecret,
): Comparison {
  return {
    signsTheirs: typeof signature === 'string' && signatureMatches(secret, theirs, signature),
    difference: ours === null ? undefined : firstDifference(theirs, ours),
  }
}

function told(report: SignatureReport, compared: Comparison | undefined): Report {
  const { valid, canonical_request } = report
  const checks = report.checks.filter(({ check }) => !LEFT_OUT.includes(check))
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
      valid ? 'This call is signed right.' : 'This call would be refused.',
    ],
  }
}

function canonicalLines(canonical: string | null): string[] {
  if (canonical === null) return ['There is no text to sign: see the checks.']
  const lines = canonical.split(/(?<=\n)/)
  return ['The text that we verify, a line each:', ...lines.map((line) => `  ${shown(line)}`)]
}

function comparisonLines({ signsTheirs, difference }: Comparison): string[] {
  const secret = signsTheirs
    ? 'Their text makes their signature: the secret is right.'
    : 'Their text does not make their signature: another secret, or another text was signed.'
  if (difference === undefined) return [secret, 'No difference to our text was found.']
  const { line, column, theirs, ours } = difference
  return [
    secret,
    `The first difference is in line ${line}, column ${column}:`,
    `  theirs  ${theirs}`,
    `  ours    ${ours}`,
  ]
}
