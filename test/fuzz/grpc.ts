/** Fuzzes the processor's gRPC port: `node .build/test/fuzz/grpc.js --seconds 600` (attack.ts). */
import { fuzz } from './attack.js'
import { attackGrpc } from './grpc_attack.js'

await fuzz('grpc', 'Sends corrupted calls to a processor.', attackGrpc)
