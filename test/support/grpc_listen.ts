/** Serves a gRPC server of a test on a free loopback port. */
import { ServerCredentials, type Server } from '@grpc/grpc-js'

/** @returns its address; default: one with a port that the kernel chooses */
export function listenGrpc(server: Server, address = '127.0.0.1:0'): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (fault, port) =>
      fault === null ? resolve(`127.0.0.1:${port}`) : reject(fault),
    )
  })
}
