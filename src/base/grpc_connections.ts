/**
 * The TCP connections and Unix sockets of a gRPC server.
 *
 * - TCP beyond loopback is mutual TLS (grpc_tls).
 * - TCP connections are bounded. The oldest unauthenticated one is closed for a new one.
 */
import { createServer as createListener, type AddressInfo, type Socket } from 'node:net'
import { ServerCredentials, type Server, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import { GRPC_CONNECTIONS_MAX } from './constants.js'
import type { GrpcTls } from './grpc_tls.js'
import { splitAddress } from './network.js'

export interface Connections {
  bind(server: Server, address: string): Promise<number>
  /** Marks the call's connection as authenticated. */
  trust(call: ServerInterceptingCallInterface): void
  stopListening(): void
}

export function createConnections(tls: GrpcTls): Connections {
  interface Connection {
    readonly socket: Socket
    isTrusted: boolean
  }
  const open = new Map<string, Connection>()
  const stops: (() => void)[] = []

  const admit = (socket: Socket): boolean => {
    if (open.size >= GRPC_CONNECTIONS_MAX) {
      const oldest = [...open].find(([, { isTrusted }]) => !isTrusted)
      if (oldest === undefined) return false
      open.delete(oldest[0])
      oldest[1].socket.destroy()
    }
    const peer = peerOf(socket)
    const connection = { socket, isTrusted: false }
    open.set(peer, connection)
    socket.on('close', () => {
      if (open.get(peer) === connection) open.delete(peer)
    })
    return true
  }

  return {
    bind: async (server, address) => {
      const { host, port } = splitAddress(address)
      const injector = server.createConnectionInjector(tls.serverCredentials(address))
      const listener = createListener({ noDelay: true }, (socket) => {
        if (admit(socket)) injector.injectConnection(socket)
        else socket.destroy()
      })
      stops.push(() => listener.close())
      return new Promise((resolve, reject) => {
        listener.once('error', (error) => reject(cannotListen(address, error)))
        listener.listen(port, host, () => resolve((listener.address() as AddressInfo).port))
      })
    },
    trust: (call) => {
      const connection = open.get(peerOf(call.getConnectionInfo()))
      if (connection !== undefined) connection.isTrusted = true
    },
    stopListening: () => {
      for (const stop of stops) stop()
    },
  }
}

const peerOf = ({
  remoteAddress = '',
  remotePort = 0,
}: {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}): string => `${remoteAddress} ${remotePort}`

export function bindSocket(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port)
      else reject(cannotListen(address, error))
    })
  })
}

const cannotListen = (address: string, error: Error): Error =>
  new Error(`cannot listen on ${address}: ${error.message}`)
