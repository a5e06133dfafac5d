/**
 * `listen`: registers a webhook receiver on this machine until Ctrl-C.
 *
 * - A forwarded request verifies again: same path, headers and bytes; the secret is printed.
 * - Deliveries that die at any endpoint of the partner are printed too.
 */
import { toVisibleJson, toVisibleText } from '../../base/visible_text.js'
import { CommandFault, type CliCommand, type Context } from '../cli/command.js'
import { connect, type Connection } from '../../client/index.js'
import { watchDeadLetters } from './dead_letter_watch.js'
import { credentialsOf } from '../calls/sandbox.js'
import { openReceiver, type ReceivedWebhook } from './webhook_receiver.js'

interface CreatedEndpoint {
  readonly id: string
  readonly key_id: string
  readonly secret: string
}

export const listen: CliCommand = {
  usage: 'listen',
  about: 'print webhooks of the demo partner until Ctrl-C',
  options: ['port', 'forward-to'],
  run: async (context) => {
    const { sandbox, clock, flags } = context
    if (context.servesProduction) {
      throw new CommandFault('A stack that serves production delivers no webhooks to this machine.')
    }
    const { brand } = sandbox
    const partner = connect(credentialsOf(sandbox, brand), { now: () => clock.now() })
    const secrets = new Map<string, string>()
    const path = pathOf(flags['forward-to'])
    const receiver = await openReceiver({
      clock,
      brand,
      port: portOf(flags.port),
      secretOf: (keyId) => secrets.get(keyId),
      answer: (delivery) => forward(delivery, flags['forward-to']),
      onAnswered: (delivery, status) => console.log(lineOf(delivery, status, context)),
    })
    const url = receiver.url + path
    const endpoint = await register(partner, url)
    secrets.set(endpoint.key_id, endpoint.secret)
    console.error(`listening at ${url} as ${endpoint.id}; stop with Ctrl-C`)
    console.error(`WEBHOOK_SECRETS='${JSON.stringify({ [endpoint.key_id]: endpoint.secret })}'`)
    const watch = watchDeadLetters(partner, clock, (line) => console.error(line))
    await new Promise((resolve) => process.once('SIGINT', resolve))
    await watch.stop()
    const deleted = await partner.request('DELETE', `/v1/webhook_endpoints/${endpoint.id}`)
    await receiver.close()
    const isDeleted = deleted.status < 300
    return {
      exitCode: isDeleted ? 0 : 1,
      value: { endpoint_id: endpoint.id, events: receiver.events.size },
      lines: [
        `${receiver.events.size} events`,
        ...(isDeleted ? [] : [`${endpoint.id} is still registered (${deleted.status})`]),
      ],
    }
  },
}

function portOf(text = '0'): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new CommandFault(`--port ${text} is not a port.`)
  return port
}

/** A webhook's signature covers the path with its query. */
function pathOf(forwardTo = 'http://localhost/hooks'): string {
  if (!URL.canParse(forwardTo))
    throw new CommandFault(`--forward-to ${forwardTo} is not an address.`)
  const { pathname, search } = new URL(forwardTo)
  return pathname + search
}

async function register(partner: Connection, url: string): Promise<CreatedEndpoint> {
  const created = await partner
    .request('POST', '/v1/webhook_endpoints', { url })
    .catch((error: unknown) => {
      throw new Error('The gateway is unreachable: is the stack running? (make run)', {
        cause: error,
      })
    })
  if (created.status !== 201) {
    throw new CommandFault(`The endpoint was rejected: ${created.status} ${created.text}`)
  }
  return created.body as CreatedEndpoint
}

/** @returns the status of the program at `url`; 502 when it is unreachable, 200 without one */
async function forward(
  { body, headers }: ReceivedWebhook,
  url: string | undefined,
): Promise<number> {
  if (url === undefined) return 200
  const { host: _host, connection: _connection, 'content-length': _length, ...passedOn } = headers
  // Loaded here, as it would be a sixth of the start of every other command.
  const { request: send } = await import('undici')
  try {
    const answer = await send(url, { method: 'POST', headers: passedOn, body })
    await answer.body.dump()
    return answer.statusCode
  } catch {
    return 502
  }
}

function lineOf(delivery: ReceivedWebhook, status: number, { flags, paint }: Context): string {
  const { eventId, eventType, verdict, body } = delivery
  if (flags.json === true)
    return toVisibleJson(JSON.stringify({ verdict, status, event: parsed(body) }))
  const color = verdict === 'valid' ? 'good' : verdict === 'duplicate' ? 'dim' : 'bad'
  const event = `${toVisibleText(eventType).padEnd(26)} ${toVisibleText(eventId)}`
  return `${event}  ${paint(color, verdict)}, answered ${status}`
}

/** The body of an unverified request may be anything. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
