/**
 * The client certificate of a connection.
 *
 * - Only a certificate that TLS has verified is shown to the processor, which verifies it again.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export type ClientCertificate =
  | { readonly kind: 'none' }
  /** TLS has not verified it. */
  | { readonly kind: 'rejected'; readonly cause: string }
  | {
      readonly kind: 'verified'
      /** The subject's common name. */
      readonly name: string
      readonly der: Buffer
      /** SHA-256 of the certificate. */
      readonly fingerprint: string
    }

const NONE: ClientCertificate = { kind: 'none' }

export function clientCertificate(socket: Socket): ClientCertificate {
  if (!(socket instanceof TLSSocket)) return NONE
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return NONE
  if (!socket.authorized) return { kind: 'rejected', cause: String(socket.authorizationError) }
  const { CN: name } = certificate.toLegacyObject().subject as { readonly CN?: unknown }
  return {
    kind: 'verified',
    name: typeof name === 'string' ? name : '',
    der: certificate.raw,
    fingerprint: certificate.fingerprint256,
  }
}
