/**
 * `make demo`: the story against the stack that runs here, or against one of its own.
 *
 * Owns: finding or starting the stack, exit code 0 or 1. Does not own: the story (demo_scenario).
 *
 * - A stack that serves production is left alone: it delivers no webhook to this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import { createDemoOutput } from './demo_output.js'
import { connectOperator } from './operator_client.js'
import { startEphemeralStack } from './ephemeral_stack.js'
import { connect } from '../client/index.js'
import { credentialsOf, findSandbox, isServing, type Sandbox } from './sandbox.js'
import { DemoFailure, runDemo } from './demo_scenario.js'
import { paintFor } from './terminal.js'

const paint = paintFor(process.stdout)

/** Whatever the environment says, as for the receiver that must hear of it. */
const SANDBOX_ALONE = { PRODUCTION_HOSTS: '', WEBHOOK_ALLOW_PRIVATE: 'true' }

async function main(): Promise<void> {
  const running = findSandbox()
  const isHere = running !== undefined && (await isServing(running))
  if (isHere && !running.serves_production) return log(running)
  const why = isHere ? 'What runs here serves production' : 'No stack runs here'
  console.log(`${why}, so the demo starts one of its own …`)
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-demo-'))
  const own = startEphemeralStack(dataDir, SANDBOX_ALONE)
  try {
    await log(await own.ready)
  } finally {
    own.process.kill('SIGTERM')
    await own.ended
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function log(sandbox: Sandbox): Promise<void> {
  const output = createDemoOutput(paint, (line) => console.log(line))
  const operator = connectOperator(sandbox, systemClock)
  const { brand } = sandbox
  const partner = connect(credentialsOf(sandbox, brand), { now: () => systemClock.now() })
  console.log(`On ${sandbox.base_url}, as partner ${sandbox.partner_id}`)
  try {
    await runDemo({ partner, operator, brand, clock: systemClock, output })
  } finally {
    operator.close()
  }
  output.end('Everything went as it must.')
}

main().catch((error: unknown) => {
  console.error(paint('bad', error instanceof DemoFailure ? `✗ ${error.message}` : String(error)))
  process.exitCode = 1
})
