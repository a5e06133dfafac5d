/**
 * The client certificates of operators that the console shows with its calls.
 *
 * - The console verifies a certificate in TLS; the processor verifies it again, so that a console
 *   cannot name an operator whose certificate it never had.
 * - A certificate is issued directly by a CA that is configured (auth/operator_ca), and valid now.
 *   Whether its operator is revoked is decided by the callers (auth/callers).
 */
import { createHash, X509Certificate } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import type { Clock } from '../base/clock.js'

/** The common name in a valid certificate (DER). Undefined means that it is not valid. */
export type OperatorCertificates = (der: Buffer) => string | undefined

const OPERATOR_CERTIFICATE = 'operator-certificate-bin'
/** Larger than any that a browser sends. */
const DER_MAX_BYTES = 8_192
const KEPT_MAX = 256

export const showCertificate = (metadata: Metadata, der: Buffer): void =>
  metadata.set(OPERATOR_CERTIFICATE, der)

/** Undefined without a certificate; a call with two of them has none. */
export function shownCertificate(metadata: Metadata): Buffer | undefined {
  const [given, second] = metadata.get(OPERATOR_CERTIFICATE)
  return Buffer.isBuffer(given) && second === undefined ? given : undefined
}

interface Checked {
  readonly name: string | undefined
  readonly validFrom: number
  readonly validTo: number
}

export function operatorCertificates(
  authorities: readonly X509Certificate[],
  clock: Clock,
): OperatorCertificates {
  /** The signature of a certificate is checked once. */
  const known = new Map<string, Checked>()

  const check = (der: Buffer): Checked => {
    const certificate = new X509Certificate(der)
    const issuer = authorities.find(
      (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
    )
    const { CN: name } = certificate.toLegacyObject().subject as { readonly CN?: unknown }
    const chain = issuer === undefined ? [certificate] : [certificate, issuer]
    return {
      name: issuer !== undefined && typeof name === 'string' ? name : undefined,
      validFrom: Math.max(...chain.map((each) => Date.parse(each.validFrom))),
      validTo: Math.min(...chain.map((each) => Date.parse(each.validTo))),
    }
  }

  return (der) => {
    if (der.length > DER_MAX_BYTES) return undefined
    const key = createHash('sha256').update(der).digest('base64')
    let checked = known.get(key)
    if (checked === undefined) {
      try {
        checked = check(der)
      } catch {
        return undefined // no certificate
      }
      if (known.size >= KEPT_MAX) known.clear()
      known.set(key, checked)
    }
    const now = clock.now()
    return now >= checked.validFrom && now <= checked.validTo ? checked.name : undefined
  }
}
