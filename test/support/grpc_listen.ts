/** Serves a gRPC server of a test on a free loopback port. */
import { ServerCredentials, type Server } from '@grpc/grpc-js'

/** @returns its address */
export function listenGrpc(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, port) =>
      fault === null ? resolve(`127.0.0.1:${port}`) : reject(fault),
    )
  })
}
