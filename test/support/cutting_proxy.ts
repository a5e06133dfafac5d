/** A TCP proxy that ends each connection after some bytes of answers. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listen } from './listen.js'

/** @param cutAfter bytes of answers on the connection with this number, from 1 */
export async function cuttingProxy(
  t: Test,
  target: string,
  cutAfter: (connection: number) => number,
) {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let connections = 0
  let cuts = 0
  const server = createServer((client) => {
    let left = cutAfter(++connections)
    const service = connect(Number(port), hostname)
    for (const socket of [client, service]) {
      const other = socket === client ? service : client
      open.add(socket)
      socket.on('close', () => open.delete(socket) && other.destroy())
      socket.on('error', () => other.destroy())
    }
    client.pipe(service)
    service.on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left > 0) return
      cuts++
      service.removeAllListeners('data').destroy()
      client.end()
    })
  })
  const baseUrl = `http://127.0.0.1:${await listen(t, server)}`
  t.teardown(() => open.forEach((socket) => socket.destroy()))
  return { baseUrl, /** Connections that were cut so far. */ cuts: () => cuts }
}
