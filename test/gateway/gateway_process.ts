/** A gateway in a process of its own, for tests that limit what a process may have. */
import { startGateway } from './running_gateway.js'

const { port } = await startGateway({ teardown: () => undefined })
process.send?.({ port })
process.once('disconnect', () => process.exit())
