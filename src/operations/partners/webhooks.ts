/** Commands about webhook endpoints, deliveries and dead letters. */
import type { DeadLetter__Output as DeadLetter } from '../../../protos/types/causeway/operator/v1/DeadLetter.js'
import type { EndpointOverview__Output as EndpointOverview } from '../../../protos/types/causeway/operator/v1/EndpointOverview.js'
import type { PoisonMessage__Output as PoisonMessage } from '../../../protos/types/causeway/operator/v1/PoisonMessage.js'
import { SECOND } from '../../base/clock.js'
import { parseDateTime } from '../../base/date_time.js'
import { CHANGE, deciderOf } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { Refused } from '../calls/calls.js'
import { PAGE, page, pageLines } from '../cli/page.js'
import { table } from '../cli/terminal.js'

/** A processor of an older version does not tell. */
export function missingLines(answer: { readonly missing_pools?: readonly number[] }): string[] {
  const missing = answer.missing_pools ?? []
  if (missing.length === 0) return []
  return [`Webhook pools not connected: ${missing.join(', ')}. What they have is missing here.`]
}

export const webhooksStatus: CliCommand = {
  usage: 'webhooks status',
  about: 'backlog and its age, breakers, dead letters, poison messages, corrupt rows',
  run: async ({ webhooks, clock }) => {
    const state = await webhooks.call('Status', {})
    const { oldest_open_at: oldest } = state
    const age = oldest === undefined ? 0 : Math.round((clock.now() - Date.parse(oldest)) / SECOND)
    const rows = [
      ['pools', String(state.pools)],
      ['in flight', String(state.in_flight)],
      ['undelivered', `${state.open}${oldest === undefined ? '' : `, oldest ${age} s`}`],
      ['dead letters', String(state.dead)],
      ['open breakers', state.open_breakers.length === 0 ? '0' : state.open_breakers.join(' ')],
      ['poison', String(state.poison)],
      ['corrupt', String(state.corrupt)],
    ]
    return { value: state, lines: [table(rows, []), ...missingLines(state)] }
  },
}

export const webhooksEndpoints: CliCommand = {
  usage: 'webhooks endpoints',
  about: 'all endpoints with their backlog and failures',
  run: async ({ webhooks }) => {
    const list = await webhooks.call('ListEndpoints', {})
    const rows = list.data.map(endpointRow)
    const lines = [rows.length === 0 ? 'There are none.' : table(rows, [])]
    return { value: list, lines: [...lines, ...missingLines(list)] }
  },
}

function endpointRow({ id, tenant, url, status, disabled_reason, counters }: EndpointOverview) {
  const why = disabled_reason === '' ? '' : ` (${disabled_reason})`
  if (!counters) return [id, tenant, status + why, 'unknown', url]
  const parts = [
    `${counters.open} open`,
    `${counters.dead} dead`,
    ...(counters.breaker_open ? ['breaker open'] : []),
    ...(counters.failing_since === undefined ? [] : [`failing since ${counters.failing_since}`]),
  ]
  return [id, tenant, status + why, parts.join(', '), url]
}

export const webhooksDead: CliCommand = {
  usage: 'webhooks dead',
  about: 'dead letters, newest first',
  options: [...PAGE, 'endpoint'],
  run: async ({ webhooks, flags }) => {
    const list = await webhooks.call('ListDead', { ...endpointIn(flags), ...page(flags.cursor) })
    const rows = list.data.map(deadRow)
    const listing = { rows, rightAligned: [], empty: 'There are none.' }
    const lines = [...pageLines(listing, list.next_cursor), ...missingLines(list)]
    return { value: list, lines }
  },
}

const deadRow = (dead: DeadLetter): string[] => [
  dead.id,
  dead.endpoint_id,
  dead.event_type,
  dead.event_id,
  `${dead.reason} after ${dead.tries} attempts`,
  dead.ended_at,
]

export const webhooksRedrive: CliCommand = {
  usage: 'webhooks redrive [DELIVERY]',
  about: 'retry one delivery, or those of --endpoint, --since, or both',
  options: [...CHANGE, 'endpoint', 'since'],
  run: async (context, [delivery]) => {
    const { flags } = context
    const isBroad = flags.endpoint !== undefined || flags.since !== undefined
    if ((delivery === undefined) !== isBroad) {
      throw new CommandFault('Name a delivery, or use --endpoint, --since, or both.')
    }
    const done = await context.webhooks
      .call('Redrive', {
        actor: deciderOf(context),
        ...(delivery === undefined ? {} : { delivery_id: delivery }),
        ...endpointIn(flags),
        since: momentOf(flags.since),
      })
      .catch((error: unknown) => {
        const isUnknown = error instanceof Refused && error.code === 'not_found'
        throw isUnknown ? new Refused(error.code, `There is no delivery ${delivery}.`) : error
      })
    const lines = [...redriveLines(done.redriven, done.more), ...missingLines(done)]
    return { value: done, lines }
  },
}

function redriveLines(redriven: number, more: boolean): string[] {
  if (redriven === 0) {
    return ['Nothing to retry: deliveries in flight or of a deleted endpoint are skipped.']
  }
  return [
    `${redriven} deliveries will be retried`,
    ...(more ? ['There are more: repeat the command.'] : []),
  ]
}

function momentOf(text: string | undefined): number {
  if (text === undefined) return 0
  const at = parseDateTime(text)
  if (at === undefined || at.ms < 0) {
    throw new CommandFault(`--since ${text} is not a time, e.g. 2026-11-21T04:35:00Z.`)
  }
  return at.ms
}

const endpointIn = ({ endpoint }: Context['flags']): { endpoint_id?: string } =>
  endpoint === undefined ? {} : { endpoint_id: endpoint }

export const webhooksEnable: CliCommand = {
  usage: 'webhooks enable ENDPOINT',
  about: 'resume delivery, held events included',
  options: CHANGE,
  run: (context, [endpoint = '']) => setEndpointStatus(context, 'EnableEndpoint', endpoint),
}

export const webhooksDisable: CliCommand = {
  usage: 'webhooks disable ENDPOINT',
  about: 'hold events until the endpoint is enabled',
  options: CHANGE,
  run: (context, [endpoint = '']) => setEndpointStatus(context, 'DisableEndpoint', endpoint),
}

async function setEndpointStatus(
  context: Context,
  name: 'EnableEndpoint' | 'DisableEndpoint',
  endpoint_id: string,
): Promise<Report> {
  const done = await context.webhooks.call(name, { actor: deciderOf(context), endpoint_id })
  return { value: done, lines: [`${done.endpoint_id} is ${done.status}`] }
}

export const webhooksPoison: CliCommand = {
  usage: 'webhooks poison',
  about: 'malformed messages on the bus, last seen first',
  run: async ({ webhooks }) => {
    const list = await webhooks.call('ListPoison', {})
    const rows = list.data.map(poisonRow)
    const lines = [rows.length === 0 ? 'There are none.' : table(rows, [])]
    return { value: list, lines: [...lines, ...missingLines(list)] }
  },
}

const poisonRow = (poison: PoisonMessage): string[] => [
  poison.digest.slice(0, 12),
  poison.subject,
  poison.reason,
  `${poison.times} times until ${poison.last_seen}`,
  JSON.stringify(Buffer.from(poison.payload_base64, 'base64').toString('utf8').slice(0, 60)),
]
