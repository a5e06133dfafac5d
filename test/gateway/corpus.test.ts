/**
 * The corpus, sent concurrently: each request gets an envelope or a closed connection, and does not
 * affect other requests.
 *
 * It takes about twelve seconds, the time that uWebSockets.js waits for the end of a head.
 */
import { connect } from 'node:net'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { answersIn, isEnvelope } from './answers.js'
import { CORPUS, CREATED, type Entry } from './corpus.js'
import { bytesOf, createRequest, roundTrip, statusOf } from './signing_partner.js'
import { openClient } from './open_client.js'
import { startGateway } from './running_gateway.js'

const ENDS_WITHIN_MS = 25_000
const TRICKLE_EVERY_MS = 200

/** Bytes until the connection closed; undefined when it stayed open. */
function play(port: number, { parts, trickle }: Entry): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const waits = patience(ENDS_WITHIN_MS)
    const dripping = setInterval(() => {
      if (waits.isOver()) finish(false)
      else if (trickle !== undefined) socket.write(trickle)
    }, TRICKLE_EVERY_MS)
    const finish = (ended: boolean): void => {
      clearInterval(dripping)
      socket.destroy()
      resolve(ended ? text : undefined)
    }
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    for (const part of parts) socket.write(part)
  })
}

t.test('every request of the corpus gets exactly one of its answers', async (t) => {
  const gateway = await startGateway(t, { environment: { RATE_LIMIT: 'off' } })
  const played = await Promise.all(
    Object.entries(CORPUS).map(async ([what, entry]) => {
      return { what, entry, text: await play(gateway.port, entry) }
    }),
  )
  for (const { what, entry, text } of played) {
    t.not(text, undefined, `${what}: its connection ends`)
    const answers = answersIn(text ?? '')
    t.ok(answers !== undefined && answers.length <= 1, `${what}: one answer at most`)
    const { status, json } = answers?.[0] ?? { status: 0, json: undefined }
    t.ok(entry.answers.includes(status), `${what}: ${status}, one of ${entry.answers.join()}`)
    if (json !== undefined)
      t.equal(isEnvelope(json), status >= 400, `${what}: format of the answer`)
  }
  const nonces = gateway.processorStub.commands.map(({ signed_by }) =>
    signed_by?.nonce.toString('hex'),
  )
  t.equal(new Set(nonces).size, nonces.length, 'no command was sent twice')
  for (const { operation, create_intent } of gateway.processorStub.commands) {
    if (operation !== undefined)
      t.match(create_intent, CREATED, 'every command matches what was signed')
  }
  t.equal(await gateway.status(createRequest()), 201)
  await eventually('no command is open', () => gateway.processor.inFlight === 0)
})

/** The concurrency of one partner's client. */
async function inParallel(count: number, step: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await step(next++)
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

t.test('a client may disconnect after any byte without effect', async (t) => {
  const gateway = await startGateway(t, { environment: { RATE_LIMIT: 'off' } })
  const { length } = bytesOf(createRequest())
  await inParallel(length - 1, async (index) => {
    const bytes = bytesOf(createRequest()).slice(0, index + 1)
    const { socket, closed } = openClient(t, gateway.port)
    socket.write(bytes, () => {
      // Half of them close, the other half reset.
      if (index % 2 === 0) socket.end(() => socket.destroy())
      else socket.resetAndDestroy()
    })
    await closed
  })
  t.equal(await gateway.status(createRequest()), 201)
  t.equal(gateway.processorStub.commands.length, 1, 'no partial request was served')
})

t.test('a request in two packets is read as the same request, or rejected', async (t) => {
  const gateway = await startGateway(t, { environment: { RATE_LIMIT: 'off' } })
  const whole = bytesOf(createRequest())
  const lineEnds = whole.indexOf('\r\n') + 2
  const otherwise: string[] = []
  await inParallel(whole.length - 1, async (index) => {
    const bytes = bytesOf(createRequest())
    const cut = index + 1
    const client = openClient(t, gateway.port)
    client.socket.setNoDelay(true)
    client.socket.write(bytes.slice(0, cut), () => {
      setTimeout(() => client.socket.write(bytes.slice(cut)), 5)
    })
    await client.closed
    const status = client.status()
    // The parser needs the request line in one packet.
    if (status !== 201 && !(cut < lineEnds && status === 505)) otherwise.push(`${cut}: ${status}`)
  })
  t.same(otherwise, [])
  for (const { create_intent } of gateway.processorStub.commands) t.match(create_intent, CREATED)
  const { text } = await roundTrip(gateway.port, bytesOf(createRequest()), 2_000)
  t.equal(statusOf(text), 201)
})
