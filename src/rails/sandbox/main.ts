/** The sandbox rail: composition root. */
import { runRail } from '../adapter/run.js'
import { SCHEMA } from './journal.js'
import { startSandboxRail } from './server.js'

await runRail({
  process: 'sandbox_rail',
  about: 'The sandbox rail: simulates a bank network.',
  schema: SCHEMA,
  start: (served, { RAIL_DELAY_MS: delayMs }) => startSandboxRail({ ...served, delayMs }),
})
