/**
 * Fuzzes the gateway: sends corrupted requests to a gateway process of its own.
 *
 * Owns: sending and checking. Does not own: the inputs (gateway_input), the command line (gateway).
 *
 * For every input:
 * - The response is a documented one, an error envelope when rejected, or a page of uWebSockets.js.
 * - No response is a 500.
 * - Every command that reaches the processor was authenticated: a signed one is the signed
 *   operation, one with a session names an intent that has a token.
 * - The process stays up, answers a valid request and stops on SIGTERM.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import type { Command__Output } from '../../protos/types/causeway/internal/v1/Command.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { answersIn, isEnvelope } from '../gateway/answers.js'
import { call, createRequest, SUBJECT } from '../gateway/signing_partner.js'
import { accept, startProcessorStub, type ProcessorStub } from '../gateway/processor_stub.js'
import type { AttackOptions, AttackReport } from './attack.js'
import { createSeededRandom } from './seeded_random.js'
import { gatewayInput, type GatewayInput } from './gateway_input.js'

/** By status. 0 means that the connection ended without a response. */
type Statuses = Record<number, number>

const AT_A_TIME = 48
/** A corrupted request may wait for bytes that are never sent. */
const QUIET_MS = 150
const FAULTS_MAX = 20

export async function attackGateway({ seed, forMs, only }: AttackOptions): Promise<AttackReport> {
  const processorStub = await startProcessorStub({ teardown: () => undefined })
  const folder = await mkdtemp(join(tmpdir(), 'causeway-door-'))
  const gateway = await startGatewayProcess(processorStub, folder)
  const statuses: Statuses = {}
  const faults: string[] = []
  const sent: Sent = { byNonce: new Map(), byIntent: new Map() }
  let next = only ?? 0
  const until = only === undefined ? performance.now() + forMs : 0

  const fault = (input: string, what: string): void => {
    if (faults.length < FAULTS_MAX) faults.push(`seed ${seed}, input ${input}: ${what}`)
  }
  processorStub.script = (command) => {
    const what = unauthenticated(command, sent)
    if (what !== undefined) fault(nameOf(command), what)
    return accept(command)
  }
  const attack = async (): Promise<void> => {
    do {
      const index = next++
      const input = gatewayInput(createSeededRandom(seed, index), index)
      sent.byNonce.set(input.nonce, input)
      sent.byIntent.set(input.intentId, input)
      const text = await play(gateway.port, input)
      const [status, what] = checked(text)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (what !== undefined) fault(String(index), what)
    } while (performance.now() < until && gateway.child.exitCode === null)
  }
  await Promise.all(Array.from({ length: only === undefined ? AT_A_TIME : 1 }, attack))
  processorStub.script = accept
  await finish(gateway, (what) => fault('any', what))
  processorStub.stop()
  await rm(folder, { recursive: true })
  return { inputs: next - (only ?? 0), statuses, faults }
}

interface GatewayProcess {
  readonly child: ChildProcess
  readonly port: number
  readonly errors: () => string
}

async function startGatewayProcess(
  processorStub: ProcessorStub,
  folder: string,
): Promise<GatewayProcess> {
  const child = fork(join(projectRoot(), '.build', 'gateway', 'main.js'), {
    env: {
      ...{ DATA_DIR: folder, HTTP_PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT: 'off' },
      PROCESSOR_ADDRESS: processorStub.address,
      PROCESSOR_TOKEN: 'gw_of_these_tests_only_0123456789',
    },
    execArgv: [],
    silent: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port, errors: () => printed }
}

/** The bytes received until the connection ends or is idle. */
function play(port: number, { packets, leaves }: GatewayInput): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setNoDelay(true)
    socket.setTimeout(QUIET_MS, () => socket.destroy())
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    // A reset beside the end of the connection is an error that no 'close' follows.
    socket.on('error', () => resolve(text))
    socket.on('close', () => resolve(text))
    socket.on('connect', () => {
      const [first, second] = packets
      socket.write(first ?? '', () => {
        if (second !== undefined) socket.write(second)
        if (leaves) socket.resetAndDestroy()
      })
    })
  })
}

/** The first status, and the fault of the responses, if any. */
function checked(text: string): readonly [status: number, fault: string | undefined] {
  const answers = answersIn(text)
  if (answers === undefined)
    return [0, `not a response of the gateway: ${JSON.stringify(text.slice(0, 300))}`]
  for (const { status, json } of answers) {
    if (status === 500) return [status, 'a 500']
    if (json !== undefined && isEnvelope(json) !== status >= 400)
      return [status, 'success and envelope do not match']
  }
  return [answers[0]?.status ?? 0, undefined]
}

interface Sent {
  readonly byNonce: Map<string, GatewayInput>
  readonly byIntent: Map<string, GatewayInput>
}

/** Contains the number of the input: the nonce or, without a signature, the operation. */
function nameOf(command: Command__Output): string {
  const { operation = 'consume_nonce_only', signed_by } = command
  return signed_by?.nonce.toString('hex') ?? JSON.stringify(command[operation])
}

/** The fault of a command that was not authenticated, if any. */
function unauthenticated(command: Command__Output, sent: Sent): string | undefined {
  const { operation, signed_by, consume_nonce_only } = command
  if (signed_by !== undefined && signed_by !== null) {
    const input = sent.byNonce.get(signed_by.nonce.toString('hex'))
    if (input === undefined) return 'a nonce that no input has'
    if (consume_nonce_only || operation === undefined) return undefined
    return operation === operationOf(input) ? undefined : `${operation} is not the signed operation`
  }
  if (operation === undefined) return 'a nonce is consumed without a signature'
  // A receipt token names a user; the processor checks the owner of the intent.
  const { get_receipt } = command
  if (get_receipt !== undefined && get_receipt !== null) {
    return get_receipt.subject === SUBJECT ? undefined : 'a receipt for another subject'
  }
  const { intent_id = '' } = (command[operation] ?? {}) as { intent_id?: string }
  const proof = sent.byIntent.get(intent_id)?.proof
  return proof === 'session' || proof === 'hmac_or_session'
    ? undefined
    : `${operation} without authentication`
}

/** The operation of the signed request; undefined when the gateway must reject it. */
function operationOf({ route, intentId, body }: GatewayInput): string | undefined {
  if (route.auth === 'none') return undefined
  const request = { query: '', body, header: () => 'a key' } as unknown as RequestContext
  const input = { request, id: intentId, sessionJti: '', receiptSubject: '' }
  const operation = route.handler.decode(input)
  return operation.ok ? Object.keys(operation.value)[0] : undefined
}

async function finish(gateway: GatewayProcess, fault: (what: string) => void): Promise<void> {
  const { child, port, errors } = gateway
  if (child.exitCode === null) {
    const { status } = await call(port, createRequest())
    if (status !== 201) fault(`a valid request is answered ${status}`)
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  if (child.exitCode !== 0) fault(`the process ended with ${child.exitCode ?? child.signalCode}`)
  if (errors() !== '') fault(`it printed ${errors().slice(0, 500)}`)
}
