/**
 * The TCP connections and Unix sockets of a gRPC server.
 *
 * - TCP beyond loopback is mutual TLS (grpc/tls).
 * - TCP connections are bounded. The oldest unauthenticated one is closed for a new one.
 */
import { createServer as createListener, type AddressInfo, type Socket } from 'node:net'
import { ServerCredentials, type Server, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import { GRPC_CONNECTIONS_MAX } from '../base/constants.js'
import type { GrpcTls } from './tls.js'
import { splitAddress } from '../base/network.js'

/** A TCP port that this process has. Until a server accepts, connections are ended at once. */
export interface Listener {
  readonly address: string
  readonly port: number
  accept(handler: (socket: Socket) => void): void
  /** Connections are ended at once again. */
  refuse(): void
  close(): void
}

export interface Connections {
  bind(server: Server, listener: Listener): number
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
    bind: (server, listener) => {
      const injector = server.createConnectionInjector(tls.serverCredentials(listener.address))
      listener.accept((socket) => {
        if (admit(socket)) injector.injectConnection(socket)
        else socket.destroy()
      })
      stops.push(listener.close)
      return listener.port
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

/** @throws Error that names the address */
export function listen(address: string): Promise<Listener> {
  const { host, port } = splitAddress(address)
  const refuse = (socket: Socket): void => void socket.destroy()
  let handle = refuse
  const server = createListener({ noDelay: true }, (socket) => handle(socket))
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(address, error)))
    server.listen(port, host, () =>
      resolve({
        address,
        port: (server.address() as AddressInfo).port,
        accept: (handler) => (handle = handler),
        refuse: () => (handle = refuse),
        close: () => void server.close(),
      }),
    )
  })
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
