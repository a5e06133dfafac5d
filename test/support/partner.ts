/**
 * The client of the partner API with the keys of a stack under test.
 *
 * Every answer must be documented (support/documented_answers).
 */
import {
  connect,
  type HttpAnswer,
  type BearerConnection,
  type Connection,
  type Credentials,
} from '../../src/client/index.js'
import { credentialsOf, type Sandbox } from '../../src/operations/calls/sandbox.js'
import { requiringDocumented } from './documented_answers.js'

export type { HttpAnswer }
export type Partner = Connection
export type Session = BearerConnection

/** Request options with this idempotency key. */
export const withKey = (key: string): { headers: Record<string, string> } => ({
  headers: { 'Idempotency-Key': key },
})

/** A connection with credentials made by the test. */
export const connectDocumented = (credentials: Credentials): Partner =>
  requiringDocumented(connect(credentials))

/** The demo partner, or the partner of `key`. */
export function partnerOf(
  sandbox: Sandbox,
  key: Partial<Pick<Credentials, 'keyId' | 'secret' | 'host'>> = {},
): Partner {
  return connectDocumented({ ...credentialsOf(sandbox, 'Service'), ...key })
}
