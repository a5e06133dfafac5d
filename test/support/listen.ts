/** Serves a server of a test on a free loopback port. */
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { Test } from 'tap'

/** `t` closes it on teardown, an HTTP server with its connections. @returns its port */
export async function listen(
  t: Pick<Test, 'teardown'>,
  server: Server & { closeAllConnections?(): void },
): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections?.()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
