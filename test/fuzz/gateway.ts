/** Fuzzes the gateway: `node .build/test/fuzz/gateway.js --seconds 600` (see attack.ts). */
import { fuzz } from './attack.js'
import { attackGateway } from './gateway_attack.js'

await fuzz('gateway', 'Sends corrupted requests to a gateway.', attackGateway)
