/**
 * `make demo`: runs the demo against the running stack, or against an ephemeral one.
 *
 * - A stack that serves production is not used: it delivers no webhooks to this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.js'
import type { Settings } from '../../settings/settings.js'
import { readSettings } from '../../settings/settings_reader.js'
import { FILES } from '../../base/subjects.js'
import { lineOf, messagesIn, type WireMessage } from './demo_messages.js'
import { createDemoOutput, type DemoOutput } from './demo_output.js'
import { connectOperator } from '../calls/operator_client.js'
import { operatorAccess } from '../calls/operator_token.js'
import { startEphemeralStack } from './ephemeral_stack.js'
import { connect } from '../../client/index.js'
import { credentialsOf, findSandbox, isServing, type Sandbox } from '../calls/sandbox.js'
import { DemoFailure, runDemo } from './demo_scenario.js'
import { paintFor } from '../cli/terminal.js'

const paint = paintFor(process.stdout)

/** Overrides the environment: webhooks must reach the receiver on this machine. */
const SANDBOX_ONLY = { PRODUCTION_HOSTS: '', WEBHOOK_ALLOW_PRIVATE: 'true' }

async function main(): Promise<void> {
  const running = findSandbox()
  const isUp = running !== undefined && (await isServing(running))
  if (isUp && !running.serves_production) return play(running, readSettings())
  const why = isUp ? 'The running stack serves production' : 'No stack is running'
  console.log(`${why}, so the demo starts its own …`)
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-demo-'))
  const own = startEphemeralStack(dataDir, SANDBOX_ONLY)
  try {
    await play(await own.ready, { ...readSettings(), DATA_DIR: dataDir, OPERATOR_TOKEN_FILE: '' })
  } finally {
    own.process.kill('SIGTERM')
    await own.ended
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function play(sandbox: Sandbox, settings: Settings): Promise<void> {
  const output = createDemoOutput(paint, (line) => console.log(line))
  const operator = connectOperator(operatorAccess(sandbox, settings), systemClock)
  const { brand } = sandbox
  const messageFile = join(settings.DATA_DIR, FILES.switchMessages)
  const before = messagesIn(messageFile).length
  const partner = connect(credentialsOf(sandbox, brand), { now: () => systemClock.now() })
  console.log(`On ${sandbox.base_url}, as partner ${sandbox.partner_id}`)
  try {
    await runDemo({ partner, operator, brand, clock: systemClock, output })
    showMessages(messagesIn(messageFile).slice(before), output)
  } finally {
    operator.close()
  }
  output.end('The demo passed.')
}

/** All in a line, and the last two in full: the payout and its answer. */
function showMessages(messages: readonly WireMessage[], output: DemoOutput): void {
  if (messages.length === 0) return
  output.chapter('The messages between the adapter and the switch')
  for (const message of messages) output.print(lineOf(message))
  for (const message of messages.slice(-2)) {
    output.print('')
    for (const line of message.text.split('\n')) output.print(line)
  }
}

main().catch((error: unknown) => {
  console.error(paint('bad', error instanceof DemoFailure ? `✗ ${error.message}` : String(error)))
  process.exitCode = 1
})
