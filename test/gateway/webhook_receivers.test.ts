/**
 * The receivers of the partner guide and of the clients' pages, run as printed against deliveries
 * of the real pool and sender: genuine events count once, everything else is rejected.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { signingKey } from '../../src/auth/signature.js'
import { instant, MINUTE, plus, systemClock, type Clock } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import { createSender } from '../../actors/webhook/sending/sender.js'
import type { SendOutcome } from '../../actors/webhook/delivery/send_outcome.js'
import { systemNames } from '../../actors/webhook/sending/target_guard.js'
import { anEvent } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { anEndpoint } from '../webhook/builders.js'
import { aPoolWorld } from '../webhook/pool_process.js'

const root = projectRoot()
const SECRETS = { we_1_1: 'whsec_first', we_1_2: 'whsec_second', we_1_3: '' }
const PATH = '/hooks?from=causeway&a=b%20c'

function programOf({ name, page }: Receiver): string {
  const [, program] =
    new RegExp(`<!-- receiver ${name} -->\n\n\`\`\`[a-z]+\n(.*?)\`\`\``, 's').exec(
      readFileSync(join(root, page), 'utf8'),
    ) ?? []
  if (program === undefined) throw new Error(`${page} has no receiver in ${name}`)
  return program
}

const CLIENT = pathToFileURL(join(root, '.build/src/client/index.js')).href

/** The client as an installed package, for programs that run in this folder. */
const withClient = t.testdir({
  'node_modules/@causeway/client': {
    'package.json': '{"type": "module", "exports": "./index.js"}',
    'index.js': `export * from '${CLIENT}'`,
  },
})
const NODE = { command: process.execPath, args: ['--input-type=module', '-'] }
const PYTHON = { command: 'python3', args: ['-B', '-'] }

/** Each reads its program from standard input. */
const RECEIVERS = [
  { name: 'node', page: 'gateway/guide/webhook-receivers.md', ...NODE },
  { name: 'python', page: 'gateway/guide/webhook-receivers.md', ...PYTHON },
  { name: 'node client', page: 'src/client/README.md', ...NODE },
  { name: 'python client', page: 'src/client/python/README.md', ...PYTHON },
] as const
type Receiver = (typeof RECEIVERS)[number]

const isMissing = ({ command }: Receiver): boolean => spawnSync(command, ['--version']).status !== 0

interface Running {
  readonly url: string
  /** `type id` of each accepted event. */
  taken(): readonly string[]
}

async function run(t: Test, receiver: Receiver, secrets: object): Promise<Running> {
  const child = spawn(receiver.command, receiver.args, {
    cwd: withClient,
    env: {
      ...{ PATH: process.env['PATH'], PYTHONPATH: join(root, 'src/client/python') },
      ...{ PORT: '0', WEBHOOK_SECRETS: JSON.stringify(secrets) },
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(programOf(receiver))
  t.teardown(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const port = await eventually('the receiver listens', () => /^port (\d+)$/m.exec(out)?.[1])
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    taken: () => out.trim().split('\n').slice(1),
  }
}

interface Sending {
  readonly clock?: Clock
  readonly nonce?: Buffer
  readonly endpoint?: Partial<Endpoint>
}

/** Sends one event with the pool's sender. */
async function send(
  url: string,
  event: ReturnType<typeof anEvent>,
  given: Sending = {},
): Promise<SendOutcome> {
  const { clock = systemClock, nonce } = given
  const random = systemRandom()
  const sender = createSender({
    brand: 'Service',
    rules: { allowPrivate: true },
    resolve: systemNames,
    clock,
    random: nonce === undefined ? random : { ...random, bytes: () => nonce },
  })
  const secrets = [keyed('we_1_1', SECRETS.we_1_1)]
  const endpoint = anEndpoint({ url, secrets, ...given.endpoint })
  const outcome = await sender.send({
    endpoint,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    traceparent: null,
  })
  await sender.close()
  return outcome
}

const keyed = (keyId: string, secret: string): Endpoint['secrets'][number] => ({
  keyId,
  key: signingKey(secret),
  activeFrom: instant(0),
})

const clockOff = (milliseconds: number): Clock => ({
  now: () => plus(systemClock.now(), milliseconds),
})

/** Headers of a genuine delivery that did not reach its receiver. */
async function intercepted(
  t: Test,
  event: ReturnType<typeof anEvent>,
): Promise<IncomingHttpHeaders> {
  let headers: IncomingHttpHeaders = {}
  const server = createServer((request, response) => {
    headers = request.headers
    request.resume().on('end', () => response.end())
  })
  await send(`http://127.0.0.1:${await listen(t, server)}${PATH}`, event)
  return headers
}

async function post(
  url: string,
  headers: IncomingHttpHeaders,
  body: string | ReadableStream,
): Promise<number> {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('x-service-'))
  const answer = await fetch(url, {
    method: 'POST',
    headers: Object.fromEntries(own) as Record<string, string>,
    body,
    duplex: 'half',
  })
  return answer.status
}

for (const receiver of RECEIVERS) {
  const { name } = receiver
  const skip = isMissing(receiver) && `${receiver.command} is not on this machine`

  t.test(`the receiver in ${name} accepts genuine events, once`, { skip }, async (t) => {
    const { url, taken } = await run(t, receiver, SECRETS)
    const [first, second] = [anEvent(1), anEvent(2)]
    const line = ({ id, type }: typeof first): string => `${type} ${id}`
    t.match(await send(url, first), { kind: 'delivered' })
    t.match(await send(url, first), { kind: 'delivered' }, 'a duplicate event is answered 2xx')
    const rotated = { secrets: [keyed('we_1_2', SECRETS.we_1_2)] }
    t.match(await send(url, second, { endpoint: rotated }), { kind: 'delivered' })
    const late = anEvent(3)
    t.match(await send(url, late, { clock: clockOff(-4 * MINUTE) }), { kind: 'delivered' })
    await eventually('all events are printed', () => taken().length >= 3)
    t.same(taken(), [line(first), line(second), line(late)])
  })

  t.test(`the receiver in ${name} rejects everything else`, { skip }, async (t) => {
    const { url, taken } = await run(t, receiver, SECRETS)
    const event = anEvent(1)
    const final = { kind: 'permanent', status: 401 }
    const retried = { kind: 'retry', status: 503 }
    const nonce = Buffer.alloc(32, 7)
    t.match(await send(url, event, { nonce }), { kind: 'delivered' })
    t.match(await send(url, event, { nonce }), retried, 'a nonce seen before')
    for (const minutes of [-10, -6, 6, 10]) {
      const outcome = await send(url, event, { clock: clockOff(minutes * MINUTE) })
      t.match(outcome, retried, `${minutes} minutes off`)
    }
    const wrong = { secrets: [keyed('we_1_1', 'whsec_other')] }
    t.match(await send(url, event, { endpoint: wrong }), final, 'another secret')
    for (const keyId of ['we_1_9', '__proto__', '']) {
      const unknown = { secrets: [keyed(keyId, SECRETS.we_1_1)] }
      t.match(await send(url, event, { endpoint: unknown }), retried, `the key ${keyId}`)
    }

    const empty = { secrets: [keyed('we_1_3', '')] }
    t.match(await send(url, event, { endpoint: empty }), retried, 'anyone can sign with no secret')

    const fresh = anEvent(2)
    const headers = await intercepted(t, fresh)
    t.equal(await post(url, headers, fresh.body.replace('→', '←')), 401, 'a body that was changed')
    t.equal(await post(url, headers, ''), 401, 'no body')
    t.equal(await post(`${url}&more=1`, headers, fresh.body), 401, 'another query')
    const stamped = { ...headers, 'x-service-timestamp': 'yesterday' }
    t.equal(await post(url, stamped, fresh.body), 503, 'no timestamp')
    t.equal(await post(url, {}, fresh.body), 503, 'no signature')
    t.equal(taken().length, 1, 'no rejected request was printed')
    t.equal(await post(url, headers, fresh.body), 204, 'the genuine event is still accepted')
    t.equal(await post(url, headers, fresh.body), 503, 'its nonce is rejected the second time')

    const another = anEvent(3)
    const chunks = new Blob([another.body]).stream()
    const noAnswer = (): number => 503 // It is repeated too.
    const status = await post(url, await intercepted(t, another), chunks).catch(noAnswer)
    t.ok([204, 503].includes(status), `in chunks, as a proxy can send them: ${status}`)
  })
}

t.test('the pool process delivers to all of them', async (t) => {
  const world = await aPoolWorld(t)
  const secret = 'whsec_of_the_test'
  const running: Running[] = []
  for (const receiver of RECEIVERS) {
    if (!isMissing(receiver)) running.push(await run(t, receiver, { whk_1: secret }))
  }
  for (const { url } of running) world.endpoint('', { url })
  await world.start()
  const events = [anEvent(1), anEvent(2), anEvent(3)]
  await world.publish(events)
  await eventually('all deliveries are settled', () => world.settled(events))
  const states = await world.rows<{ state: string; n: number }>(
    'SELECT state, count(*) AS n FROM deliveries GROUP BY state',
  )
  t.same(states, [{ state: 'delivered', n: 3 * running.length }])
  for (const { taken } of running) {
    await eventually('all events are printed', () => new Set(taken()).size === 3)
    t.equal(taken().length, 3)
  }
})
