/**
 * Fuzzes the gRPC port of a processor of its own with a sandbox rail and without a bus.
 *
 * Owns: sending and checking. Does not own: the inputs (grpc_input), the command line (grpc).
 *
 * For every input:
 * - A call is answered with a status of gRPC or HTTP, or its stream ends.
 * - No answer is UNKNOWN, which is an exception of a handler; INTERNAL only names bytes that are no
 *   message, or a malformed timeout (both grpc-js).
 * - A call without a credential is not accepted.
 * - The process stays up, answers a valid call, stops on SIGTERM, and prints no error; its books
 *   pass the audit.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import { callerEntry } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { contracts } from '../../src/grpc/contracts.js'
import { freePort } from '../../src/supervisor/ports.js'
import { startProgram, type RunningProgram } from '../support/program.js'
import { CALLERS, grpcInput, type CallInput, type FuzzCaller } from './grpc_input.js'
import type { AttackOptions, AttackReport } from './attack.js'
import { createSeededRandom } from './seeded_random.js'

/** By status of gRPC; `http N`, `none` or `frames` without one. */
type Statuses = Record<string, number>

const AT_A_TIME = 24
/** What a caller does not read or send holds memory of its session. */
const CALLS_PER_SESSION = 20
/** Without bytes a connection is closed. */
const QUIET_MS = 150
/** A call may wait for messages that are never sent. */
const ANSWERED_WITHIN_MS = 400
const FAULTS_MAX = 20
const READY_WITHIN_MS = 60_000
const RAIL_TOKEN = 'token-of-the-processor-at-the-rail'
const NOT_A_CALL = /deserializ|decompress|grpc-timeout/i

export async function attackGrpc({ seed, forMs, only }: AttackOptions): Promise<AttackReport> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-grpc-'))
  const processor = await startProcessor(folder)
  const statuses: Statuses = {}
  const faults: string[] = []
  const fault = (input: string, what: string): void => {
    if (faults.length < FAULTS_MAX) faults.push(`seed ${seed}, input ${input}: ${what}`)
  }
  let next = only ?? 0
  const until = only === undefined ? performance.now() + forMs : 0
  const goesOn = (): boolean =>
    performance.now() < until && processor.program.child.exitCode === null
  const attack = async (): Promise<void> => {
    let session = openSession(processor)
    for (let count = 1; count === 1 || goesOn(); count++) {
      const index = next++
      const input = grpcInput(createSeededRandom(seed, index), tokenOf)
      if (session.destroyed || session.closed || count % CALLS_PER_SESSION === 0) {
        session.destroy()
        session = openSession(processor)
      }
      const answer =
        input.kind === 'call'
          ? await play(session, input)
          : await playFrames(processor, input.bytes)
      // Node's client corrupts its memory when a session is used or ended within its own callback.
      await setImmediate()
      const name = answer.code ?? answer.name
      statuses[name] = (statuses[name] ?? 0) + 1
      const what = input.kind === 'call' ? faultOf(input, answer) : undefined
      if (what !== undefined) fault(`${index} ${nameOf(input as CallInput)}`, what)
    }
    session.destroy()
  }
  await Promise.all(Array.from({ length: only === undefined ? AT_A_TIME : 1 }, attack))
  await finish(processor, (what) => fault('any', what))
  await audit(folder, (what) => fault('any', what))
  rmSync(folder, { recursive: true, force: true })
  return { inputs: next - (only ?? 0), statuses, faults }
}

const nameOf = ({ caller, path }: CallInput): string => `${caller} ${path}`
const tokenOf = (caller: FuzzCaller): string =>
  caller === 'nobody' ? '' : `token-of-${caller}-of-these-tests-only`

interface Processor {
  readonly program: RunningProgram
  readonly rail: RunningProgram
  readonly port: number
  /** The status of a valid call. */
  call(): Promise<status>
}

async function startProcessor(folder: string): Promise<Processor> {
  const freePorts = [1, 2, 3, 4].map(() => freePort('127.0.0.1'))
  const [port = 0, opsPort, nobody, railOpsPort] = await Promise.all(freePorts)
  const railAddress = `unix:${join(folder, 'rail.sock')}`
  const start = (name: string, environment: Readonly<Record<string, string>>): RunningProgram =>
    startProgram(
      name,
      [],
      { DOT_ENV: '', DATA_DIR: folder, LOG_LEVEL: 'error', ...environment },
      { endsWithParent: true },
    )
  const rail = start('rails/sandbox/main.js', {
    ...{ OPS_PORT: String(railOpsPort), RAIL_LISTEN: railAddress },
    CALLERS: callerEntry('processor', 'processor', RAIL_TOKEN),
  })
  const program = start('processor/main.js', {
    ...{ OPS_PORT: String(opsPort), GRPC_PORT: String(port), STORE_URL: '' },
    ...{ NATS_URL: `nats://127.0.0.1:${nobody}`, RAIL_ADDRESS: railAddress, RAIL_TOKEN },
    CALLERS: CALLERS.map((caller) => callerEntry(caller, caller, tokenOf(caller))).join(),
  })
  const address = `127.0.0.1:${port}`
  const { Operator } = contracts<OperatorProto>().causeway.operator.v1
  const call = (): Promise<status> =>
    new Promise((resolve) => {
      const operator = new Operator(address, CLEARTEXT.channelCredentials(address))
      const deadline = Date.now() + READY_WITHIN_MS
      operator.EnsureDemo({}, bearer(tokenOf('supervisor')), { deadline }, (error) => {
        operator.close()
        resolve(error?.code ?? status.OK)
      })
    })
  const processor = { program, rail, port, call }
  const readyBy = performance.now() + READY_WITHIN_MS
  while ((await call()) !== status.OK) {
    if (program.child.exitCode !== null || performance.now() > readyBy)
      throw new Error(`the processor does not start: ${program.output.out}${program.output.err}`)
  }
  return processor
}

function openSession({ port }: Processor): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
  return session
}

interface Received {
  readonly code: status | undefined
  readonly details: string
  /** Without a code. */
  readonly name: string
}

function play(session: ClientHttp2Session, input: CallInput): Promise<Received> {
  const { headers, packets, end } = input
  return new Promise((resolve) => {
    const received: { code?: status; details: string; name: string } = { details: '', name: 'none' }
    let timer: NodeJS.Timeout | undefined = undefined
    const done = (): void => {
      clearTimeout(timer)
      resolve({ ...received, code: received.code })
    }
    const note = (got: IncomingHttpHeaders & { ':status'?: number }): void => {
      if (got[':status'] !== undefined && got[':status'] !== 200)
        received.name = `http ${got[':status']}`
      if (got['grpc-status'] === undefined) return
      received.code = Number(got['grpc-status'])
      received.details = decodeURIComponent(String(got['grpc-message'] ?? ''))
    }
    try {
      const stream = session.request(headers, { endStream: false })
      stream.on('response', note)
      stream.on('trailers', note)
      stream.on('error', () => undefined)
      stream.on('close', done)
      timer = setTimeout(() => {
        stream.destroy()
        done()
      }, ANSWERED_WITHIN_MS)
      stream.resume()
      for (const packet of packets) stream.write(packet)
      if (end === 'end') stream.end()
      if (end === 'reset') stream.close(8) // CANCEL
    } catch {
      received.name = 'not sent' // The client rejects headers or a closed session.
      done()
    }
  })
}

function playFrames({ port }: Processor, bytes: Buffer): Promise<Received> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1')
    socket.setTimeout(QUIET_MS, () => socket.destroy())
    socket.on('error', () => undefined)
    socket.on('close', () => resolve({ code: undefined, details: '', name: 'frames' }))
    socket.resume()
    socket.write(bytes)
  })
}

function faultOf({ caller, headers }: CallInput, received: Received): string | undefined {
  const { code, details } = received
  if (code === undefined) return undefined
  if (!(code in status)) return `status ${code}`
  if (caller === 'nobody' && code === status.OK) return 'accepted without a credential'
  if (code === status.UNKNOWN) return `UNKNOWN: ${details} ${JSON.stringify(headers).slice(0, 300)}`
  if (code === status.INTERNAL && !NOT_A_CALL.test(details)) return `INTERNAL: ${details}`
  return undefined
}

async function finish(processor: Processor, fault: (what: string) => void): Promise<void> {
  const { program, rail, call } = processor
  const { child, output, ended } = program
  if (child.exitCode === null) {
    const code = await call()
    if (code !== status.OK) fault(`a valid call is answered ${status[code]}`)
    child.kill('SIGTERM')
  }
  const { exitCode } = await ended
  if (exitCode !== 0) fault(`the process ended with ${exitCode ?? child.signalCode}`)
  rail.child.kill('SIGTERM')
  await rail.ended
  const printed = output.out + output.err
  if (printed !== '') fault(`it printed ${printed.slice(0, 1_000)}`)
}

async function audit(folder: string, fault: (what: string) => void): Promise<void> {
  const program = startProgram('audit/main.js', ['--data-dir', folder], { DOT_ENV: '' })
  const { exitCode, out, err } = await program.ended
  if (exitCode !== 0) fault(`the audit: ${out}${err}`)
}
