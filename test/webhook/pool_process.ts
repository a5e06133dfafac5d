/**
 * The webhook pool as a real process, with a real nats-server, a stub of the processor and a
 * receiver.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import type { Test } from 'tap'
import type { Endpoint as WireEndpoint } from '../../protos/types/causeway/internal/v1/Endpoint.js'
import type { ReadyMessage } from '../../src/process/child.js'
import { systemClock } from '../../src/base/clock.js'
import { newId, type EndpointId } from '../../src/base/ids.js'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import { webhookDatabase } from '../../src/base/subjects.js'
import { connectBus, type Bus } from '../../src/bus/nats.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Bindable } from '../../src/store/database.js'
import type { StoredEvent } from '../../src/store/store.js'
import { TENANT } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { createNatsServer, type NatsServer } from '../support/nats_server.js'
import { tempFolder } from '../support/temp_folder.js'
import {
  openStandInProcessor,
  type StandInOptions,
  type StandInProcessor,
} from './directory_stub.js'

const SECRET = 'whsec_of_the_test'
const TOKEN = 'wh_of_these_tests_only_0123456789'
const MAIN = join(projectRoot(), '.build/actors/webhook/main.js')
const random = systemRandom()

export interface Got {
  readonly path: string
  readonly eventId: string
  readonly body: string
  readonly nonce: string
  /** Verified here, by the contract. */
  readonly signed: boolean
  /** The status answered. 0 means none. */
  readonly status: number
}

/** Counts distinct events, as delivery is at least once. */
export const distinct = (got: readonly Got[]): number =>
  new Set(got.map(({ eventId }) => eventId)).size

export interface Launched {
  readonly first: unknown
  /** Resolves when it serves. */
  readonly serving: Promise<void>
}

export interface PoolWorld {
  readonly nats: NatsServer
  readonly processor: StandInProcessor
  readonly bus: Bus
  readonly got: Got[]
  /** The receiver's answer by path: a status or none; 200 without an entry. */
  readonly answers: Map<string, number | 'silence'>
  /** The settings of each pool but for its number. */
  readonly settings: Readonly<Record<string, string>>
  /** Pools by number; most worlds have one. */
  start(settings?: Readonly<Record<string, string>>, pool?: number): Promise<void>
  /** Resolves with what the process reports first, as a candidate or when it serves. */
  launch(settings?: Readonly<Record<string, string>>, pool?: number): Promise<Launched>
  stop(pool?: number): Promise<number | null>
  kill(pool?: number): Promise<void>
  pidOf(pool: number): number
  /** Resolves with the exit code when it exits by itself. */
  exit(pool?: number): Promise<number | null>
  /** Registers an endpoint at the receiver. */
  endpoint(path: string, changes?: WireEndpoint): WireEndpoint & { readonly id: string }
  publish(events: readonly StoredEvent[]): Promise<void>
  jetstream(): Promise<JetStreamManager>
  rows<Row>(sql: string, parameters?: readonly Bindable[], pool?: number): Promise<Row[]>
  gotBy(path: string): Got[]
  /** The id of the endpoint at a path. */
  endpointAt(path: string): string
  settled(events: readonly StoredEvent[]): boolean
}

export async function aPoolWorld(
  t: Test,
  common: Readonly<Record<string, string>> = {},
  processorOptions?: StandInOptions,
): Promise<PoolWorld> {
  const folder = tempFolder(t)
  const nats = await createNatsServer(folder)
  await nats.start()
  const environment = {
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    NATS_URL: nats.url,
    PROCESSOR_TOKEN: TOKEN,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_BACKOFF_SCALE_PCT: '1',
    ...common,
  }
  const processor = await openStandInProcessor(TOKEN, processorOptions)
  const settings = { ...environment, PROCESSOR_ADDRESS: processor.address }
  const receiver = await openReceiver(t)
  const bus = connectBus({ url: nats.url, consumes: false, clock: systemClock, log })
  const endpoints = new Map<string, string>()
  let link: NatsConnection | undefined
  const children = new Map<number, ChildProcess>()

  const launch = async (changes: Readonly<Record<string, string>> = {}, pool = 1) => {
    const child = fork(MAIN, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ...settings,
        WEBHOOK_POOL_NUMBER: String(pool),
        ...changes,
      },
    })
    children.set(pool, child)
    let isServing: () => void = () => undefined
    const serving = new Promise<void>((resolve) => (isServing = resolve))
    child.on('message', (message: ReadyMessage) => {
      if (message['mode'] !== 'candidate') isServing()
    })
    const [first] = (await once(child, 'message')) as [unknown]
    t.match(first, { ready: true })
    return { first, serving }
  }

  const start = async (...process: Parameters<typeof launch>): Promise<void> =>
    (await launch(...process)).serving

  const end = async (signal: NodeJS.Signals, pool: number): Promise<number | null> => {
    const running = children.get(pool)
    children.delete(pool)
    if (running === undefined) return null
    const ended = once(running, 'exit')
    running.kill(signal)
    const [code] = (await ended) as [number | null]
    return code
  }

  const exit = async (pool: number): Promise<number | null> => {
    const [code] = (await once(children.get(pool)!, 'exit')) as [number | null]
    children.delete(pool)
    return code
  }

  t.teardown(async () => {
    await Promise.all([...children.keys()].map((pool) => end('SIGKILL', pool)))
    await link?.close()
    await bus.close()
    processor.close()
    await nats.kill()
  })

  return {
    nats,
    processor,
    bus,
    got: receiver.got,
    answers: receiver.answers,
    settings,
    start,
    launch,
    stop: (pool = 1) => end('SIGTERM', pool),
    pidOf: (pool) => children.get(pool)?.pid ?? 0,
    exit: (pool = 1) => exit(pool),
    kill: async (pool = 1) => void (await end('SIGKILL', pool)),
    endpoint: (path, changes = {}) => {
      const endpoint = {
        id: newId<EndpointId>('endpoint', systemClock.now(), random),
        tenant: TENANT,
        url: `${receiver.url}${path}`,
        enabled_events: ['*'],
        status: 'enabled',
        secrets: [{ key_id: 'whk_1', secret: SECRET, active_from: '0' }],
        created_at: '0',
        ...changes,
      }
      processor.setEndpoint(endpoint)
      endpoints.set(path, endpoint.id)
      return endpoint
    },
    publish: async (events) => {
      await eventually('bus up', () => bus.publisher.capacity() > 0)
      let left = events
      await eventually('all are published', async () => {
        const stored = await Promise.all(
          left.map((event) => bus.publisher.publish(event, event.id)),
        )
        left = left.filter((_event, index) => stored[index] !== true)
        return left.length === 0
      })
    },
    jetstream: async () => {
      link ??= await connect({
        servers: `127.0.0.1:${nats.port}`,
        ...{ user: 'test', pass: 'test-password' },
      })
      return link.jetstreamManager()
    },
    rows: async <Row>(sql: string, parameters?: readonly Bindable[], pool = 1) => {
      const database = await openDatabase(join(folder, webhookDatabase(pool)), { readOnly: true })
      const rows = await database.all<Row>(sql, parameters)
      await database.close()
      return rows
    },
    endpointAt: (path) => endpoints.get(path) ?? '',
    gotBy: (path) => receiver.got.filter((each) => each.path === path),
    settled: (events) => events.every(({ id }) => processor.outcomes.has(`${id} settled`)),
  }
}

async function openReceiver(t: Test) {
  const got: Got[] = []
  const answers = new Map<string, number | 'silence'>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      const answer = answers.get(path) ?? 200
      const status = answer === 'silence' ? 0 : answer
      got.push({ ...verified(request, path, Buffer.concat(chunks)), status })
      if (answer !== 'silence') response.writeHead(answer).end()
    })
  })
  return { got, answers, url: `http://127.0.0.1:${await listen(t, server)}` }
}

function verified({ headers }: IncomingMessage, path: string, body: Buffer): Omit<Got, 'status'> {
  const header = (name: string): string => String(headers[`x-service-${name}`])
  const hash = createHash('sha256').update(body).digest('hex')
  const text = `POST\n${path}\n${header('timestamp')}\n${header('nonce')}\n${hash}\n`
  const expected = createHmac('sha256', SECRET).update(text).digest('base64')
  return {
    path,
    eventId: header('webhook-event-id'),
    body: body.toString(),
    nonce: header('nonce'),
    signed: expected === header('signature'),
  }
}
