/**
 * Signs requests as a partner does.
 *
 * Owns: a partner's side of the signature, written from the contract with node:crypto alone, so
 * that a mistake in the service's own code is not repeated here. Does not own: headers and bodies
 * (scenarios).
 */
import { createHmac, createSecretKey, hash } from 'node:crypto'

export interface Unsigned {
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** RFC 3339, UTC. */
  readonly timestamp: string
  /** 32 random bytes in lower-case hex. */
  readonly nonce: string
  /** As it will be sent; empty when there is none. */
  readonly body: string
}

export type Signer = (request: Unsigned) => string

export function createSigner(secret: string): Signer {
  const key = createSecretKey(secret, 'utf8')
  return ({ method, path, timestamp, nonce, body }) => {
    const digest = body === '' ? '' : hash('sha256', body)
    const canonical = [method, path, timestamp, nonce, digest, ''].join('\n')
    return createHmac('sha256', key).update(canonical).digest('base64')
  }
}
