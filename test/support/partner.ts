/** The partner's client, ready for a stack under test: requests as they go over the wire. */
import {
  connect,
  type HttpAnswer,
  type BearerConnection,
  type Connection,
  type Credentials,
  type RequestOptions,
} from '../../src/client/index.js'
import { credentialsOf, type Sandbox } from '../../src/operations/sandbox.js'

export type { HttpAnswer }
export type Partner = Connection
export type Session = BearerConnection
export type Extra = RequestOptions

/** The demo partner, or another one of the same stack by its key. */
export function partnerOf(
  sandbox: Sandbox,
  key: Partial<Pick<Credentials, 'keyId' | 'secret' | 'host'>> = {},
): Partner {
  return connect({ ...credentialsOf(sandbox, 'Service'), ...key })
}
