/** A connection whose calls pass through a function of the test. */
import type { BearerConnection, Connection, HttpAnswer } from '../../src/client/index.js'

export interface CallMade {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly options: Parameters<BearerConnection['request']>[3]
  /** The session token. Undefined means that the call is signed. */
  readonly token: string | undefined
}

/** @param make makes each call of the partner, and those of its sessions */
export function throughEachCall(
  connection: Connection,
  make: (call: () => Promise<HttpAnswer>, made: CallMade) => Promise<HttpAnswer>,
): Connection {
  const around = (bearer: BearerConnection, token?: string): BearerConnection => ({
    request: (method, path, body, options) =>
      make(() => bearer.request(method, path, body, options), {
        ...{ method, path, body, options, token },
      }),
  })
  return {
    ...connection,
    ...around(connection),
    session: (token, appPackage) => around(connection.session(token, appPackage), token),
  }
}
