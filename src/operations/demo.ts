/**
 * `make demo`: the story against the stack that runs here, or against one of its own.
 *
 * Owns: finding or starting the stack, exit code 0 or 1. Does not own: the story (story).
 *
 * D1. A stack that serves production is left alone: it delivers no webhook to this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import { createNarrator } from './narrator.js'
import { connectOperator } from './operator_client.js'
import { startOwnStack } from './own_stack.js'
import { connect } from '../client/index.js'
import { credentialsOf, findSandbox, isServing, type Sandbox } from './sandbox.js'
import { Broken, tellStory } from './story.js'
import { paintFor } from './terminal.js'

const paint = paintFor(process.stdout)

/** Whatever the environment says, as for the receiver that must hear of it. */
const SANDBOX_ALONE = { PRODUCTION_HOSTS: '', WEBHOOK_ALLOW_PRIVATE: 'true' }

async function main(): Promise<void> {
  const running = findSandbox()
  const isHere = running !== undefined && (await isServing(running))
  if (isHere && !running.serves_production) return tellOn(running)
  const why = isHere ? 'What runs here serves production' : 'No stack runs here'
  console.log(`${why}, so the demo starts one of its own …`)
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-demo-'))
  const own = startOwnStack(dataDir, SANDBOX_ALONE)
  try {
    await tellOn(await own.ready)
  } finally {
    own.process.kill('SIGTERM')
    await own.ended
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function tellOn(sandbox: Sandbox): Promise<void> {
  const narrator = createNarrator(paint, (line) => console.log(line))
  const operator = connectOperator(sandbox, systemClock)
  const { brand } = sandbox
  const partner = connect(credentialsOf(sandbox, brand), { now: () => systemClock.now() })
  console.log(`On ${sandbox.base_url}, as partner ${sandbox.partner_id}`)
  try {
    await tellStory({ partner, operator, brand, clock: systemClock, narrator })
  } finally {
    operator.close()
  }
  narrator.end('Everything went as it must.')
}

main().catch((error: unknown) => {
  console.error(paint('bad', error instanceof Broken ? `✗ ${error.message}` : String(error)))
  process.exitCode = 1
})
