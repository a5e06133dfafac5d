/** A gateway as a separate process, for tests that limit its resources. */
import { startGateway } from './running_gateway.js'

const { port } = await startGateway({ teardown: () => undefined })
process.send?.({ port })
process.once('disconnect', () => process.exit())
