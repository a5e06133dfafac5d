/**
 * A webhook receiver on this machine, for as long as the command runs.
 *
 * Owns: registering it with the demo partner, and taking it back. Does not own: verification
 * (webhook_receiver).
 *
 * - What is forwarded can be verified again: the path is that of the program behind, bytes and
 *   headers are those that came, and the secret is shown.
 */
import { request as send } from 'undici'
import { CommandFault, type Command, type Context } from './command.js'
import { connect, type Connection } from '../client/index.js'
import { credentialsOf } from './sandbox.js'
import { openReceiver, type Delivery } from './webhook_receiver.js'

interface CreatedEndpoint {
  readonly id: string
  readonly key_id: string
  readonly secret: string
}

export const listen: Command = {
  usage: 'listen',
  about: 'print the webhooks of the demo partner until Ctrl-C',
  options: ['port', 'forward-to'],
  run: async (context) => {
    const { sandbox, clock, flags } = context
    if (context.servesProduction) {
      throw new CommandFault('A stack that serves production delivers nothing to this machine.')
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
    console.error(`listening at ${url} as ${endpoint.id}; Ctrl-C ends it`)
    console.error(`WEBHOOK_SECRETS='${JSON.stringify({ [endpoint.key_id]: endpoint.secret })}'`)
    await new Promise((resolve) => process.once('SIGINT', resolve))
    const gone = await partner.request('DELETE', `/v1/webhook_endpoints/${endpoint.id}`)
    await receiver.close()
    const isGone = gone.status < 300
    return {
      exitCode: isGone ? 0 : 1,
      value: { endpoint_id: endpoint.id, events: receiver.events.size },
      lines: [
        `${receiver.events.size} events`,
        ...(isGone ? [] : [`${endpoint.id} is still registered (${gone.status})`]),
      ],
    }
  },
}

function portOf(text = '0'): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new CommandFault(`--port ${text} is no port.`)
  return port
}

/** A webhook's signature covers the path with its query. */
function pathOf(forwardTo = 'http://localhost/hooks'): string {
  if (!URL.canParse(forwardTo)) throw new CommandFault(`--forward-to ${forwardTo} is no address.`)
  const { pathname, search } = new URL(forwardTo)
  return pathname + search
}

async function register(partner: Connection, url: string): Promise<CreatedEndpoint> {
  const created = await partner
    .request('POST', '/v1/webhook_endpoints', { url })
    .catch((error: unknown) => {
      throw new Error('The gateway does not answer: is the stack running? (make run)', {
        cause: error,
      })
    })
  if (created.status !== 201) {
    throw new CommandFault(`The endpoint was refused: ${created.status} ${created.text}`)
  }
  return created.body as CreatedEndpoint
}

/** The program behind answers for us; one that cannot be reached is as good as a 502. */
async function forward({ body, headers }: Delivery, url: string | undefined): Promise<number> {
  if (url === undefined) return 200
  const { host: _ours, connection: _theirs, 'content-length': _recomputed, ...passedOn } = headers
  try {
    const answer = await send(url, { method: 'POST', headers: passedOn, body })
    await answer.body.dump()
    return answer.statusCode
  } catch {
    return 502
  }
}

function lineOf(delivery: Delivery, status: number, { flags, paint }: Context): string {
  const { eventId, eventType, verdict, body } = delivery
  if (flags.json === true) return JSON.stringify({ verdict, status, event: parsed(body) })
  const colour = verdict === 'valid' ? 'good' : verdict === 'duplicate' ? 'dim' : 'bad'
  return `${eventType.padEnd(26)} ${eventId}  ${paint(colour, verdict)}, answered ${status}`
}

/** Anybody may send anything to it. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
