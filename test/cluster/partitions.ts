/**
 * Partitions of a trial cluster by TCP proxies between its processes, for users without the rights
 * that real ones need (cluster/packet_filter).
 *
 * - While a link is cut no data passes in either direction and connections stay open, as in a
 *   network partition. Held data is passed on afterwards.
 */
import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { TrialClusterOptions } from '../../src/trial_cluster/trial_cluster.js'
import { freePort } from '../../src/supervisor/ports.js'

export interface Partitions extends Required<Pick<TrialClusterOptions, 'route' | 'within'>> {
  /** How links are cut. */
  readonly means: string
  /** Separates processes by the beginnings of their names: `processor-1` from all `postgres`. */
  cut(from: string, to: string): void
  /** Separates a process from all others. */
  isolate(name: string): void
  heal(): void
  close(): void
}

/** Kinds of processes that are reached through proxies. */
const PROXIED = /^(postgres|rail|processor|nats)(-\d+)?$/

export function createProxies(): Partitions {
  const servers: Server[] = []
  const sockets = new Map<string, Set<Socket>>()
  let isCut: (link: string) => boolean = () => false

  const nameOf = (from: string, to: string): string => `${from} ${to}`

  const accept = (link: string, port: number, client: Socket): void => {
    const upstream = connect({ host: '127.0.0.1', port })
    const both = [client, upstream]
    const open = sockets.get(link) ?? new Set<Socket>()
    sockets.set(link, open)
    for (const socket of both) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        for (const each of both) each.destroy()
      })
    }
    pass(client, upstream, link)
    pass(upstream, client, link)
    if (isCut(link)) for (const socket of both) socket.pause()
  }

  const cutWhere = (matches: (link: string) => boolean): void => {
    isCut = matches
    for (const [link, open] of sockets) {
      if (isCut(link)) for (const socket of open) socket.pause()
    }
  }

  const pass = (from: Socket, to: Socket, link: string): void => {
    from.on('data', (bytes) => {
      if (!to.write(bytes)) {
        from.pause()
        to.once('drain', () => {
          if (!isCut(link)) from.resume()
        })
      }
    })
    from.on('end', () => to.end())
  }

  return {
    means: 'TCP proxies',
    within: (_name, program) => program,
    route: async (from, to, address) => {
      if (!PROXIED.test(to)) return address
      const server = createServer((client) => {
        accept(nameOf(from, to), Number(address.split(':')[1]), client)
      })
      servers.push(server)
      const port = await freePort('127.0.0.1')
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return `127.0.0.1:${port}`
    },
    cut: (from, to) =>
      cutWhere((link) => {
        const [source = '', target = ''] = link.split(' ')
        // A link of all gateways is one of each.
        return (source.startsWith(from) || from.startsWith(source)) && target.startsWith(to)
      }),
    isolate: (name) => cutWhere((link) => link.split(' ').includes(name)),
    heal: () => {
      isCut = () => false
      for (const open of sockets.values()) for (const socket of open) socket.resume()
    },
    close: () => {
      for (const open of sockets.values()) for (const socket of open) socket.destroy()
      for (const server of servers) server.close()
    },
  }
}
