/**
 * `make demo`: the story against the stack that runs here, or against one of its own.
 *
 * Owns: finding or starting the stack, exit code 0 or 1. Does not own: the story (story).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import { readSettings } from '../base/settings.js'
import { createNarrator } from './narrator.js'
import { connectOperator } from './operator_client.js'
import { startOwnStack } from './own_stack.js'
import { createPartner } from './partner.js'
import { credentialsOf, findSandbox, isServing, type Sandbox } from './sandbox.js'
import { Broken, tellStory } from './story.js'
import { paintFor } from './terminal.js'

const paint = paintFor(process.stdout)

async function main(): Promise<void> {
  const running = findSandbox()
  if (running !== undefined && (await isServing(running))) return tellOn(running)
  console.log('No stack runs here, so the demo starts one of its own …')
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-demo-'))
  const own = startOwnStack(dataDir)
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
  const brand = readSettings().BRAND
  const partner = createPartner(credentialsOf(sandbox, brand), systemClock)
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
