import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { latencyMs } from './latency.js'
import { runWindow, type Window } from './load.js'
import { COMPLETED, unexpected, type Scenario } from './scenario.js'

async function serverOf(t: Tap.Test, listener: RequestListener): Promise<Window['address']> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}
