/**
 * Commands about webhooks: how deliveries fare, and what to do about those that failed.
 *
 * Owns: reading what was typed, showing what came back. Does not own: the rules (the processor),
 * the deliveries (the webhook pools, which the processor asks).
 */
import type { DeadLetter__Output as DeadLetter } from '../../protos/types/causeway/v1/DeadLetter.js'
import type { EndpointOverview__Output as EndpointOverview } from '../../protos/types/causeway/v1/EndpointOverview.js'
import type { PoisonMessage__Output as PoisonMessage } from '../../protos/types/causeway/v1/PoisonMessage.js'
import { SECOND } from '../base/clock.js'
import { CHANGE, deciderOf } from './actor.js'
import { Refused } from './calls.js'
import { CommandFault, type Command, type Context, type Report } from './command.js'
import { PAGE, page, pageLines } from './page.js'
import { table } from './terminal.js'

export const webhooksStatus: Command = {
  usage: 'webhooks status',
  about: 'backlog, its age, breakers, dead letters, poison',
  run: async ({ webhooks, clock }) => {
    const told = await webhooks.call('Status', {})
    const { oldest_open_at: oldest } = told
    const age = oldest === undefined ? 0 : Math.round((clock.now() - Date.parse(oldest)) / SECOND)
    const rows = [
      ['pools', String(told.pools)],
      ['tries under way', String(told.in_flight)],
      [
        'not delivered yet',
        `${told.open}${oldest === undefined ? '' : `, the oldest ${age} s old`}`,
      ],
      ['dead letters', String(told.dead)],
      ['open breakers', told.open_breakers.length === 0 ? '0' : told.open_breakers.join(' ')],
      ['poison', String(told.poison)],
    ]
    return { value: told, lines: [table(rows, [])] }
  },
}

export const webhooksEndpoints: Command = {
  usage: 'webhooks endpoints',
  about: 'every endpoint, and how it fares',
  run: async ({ webhooks }) => {
    const list = await webhooks.call('ListEndpoints', {})
    const rows = list.data.map(endpointRow)
    return { value: list, lines: [rows.length === 0 ? 'There are none.' : table(rows, [])] }
  },
}

function endpointRow({ id, tenant, url, status, disabled_reason, fare }: EndpointOverview) {
  const why = disabled_reason === '' ? '' : ` (${disabled_reason})`
  if (!fare) return [id, tenant, status + why, 'not known', url]
  const parts = [
    `${fare.open} open`,
    `${fare.dead} dead`,
    ...(fare.breaker_open ? ['breaker open'] : []),
    ...(fare.failing_since === undefined ? [] : [`failing since ${fare.failing_since}`]),
  ]
  return [id, tenant, status + why, parts.join(', '), url]
}

export const webhooksDead: Command = {
  usage: 'webhooks dead',
  about: 'dead letters, the newest first',
  options: [...PAGE, 'endpoint'],
  run: async ({ webhooks, flags }) => {
    const list = await webhooks.call('ListDead', { ...endpointIn(flags), ...page(flags.cursor) })
    const rows = list.data.map(deadRow)
    const listing = { rows, toTheRight: [], empty: 'There are none.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

const deadRow = (dead: DeadLetter): string[] => [
  dead.id,
  dead.endpoint_id,
  dead.event_type,
  dead.event_id,
  `${dead.reason} after ${dead.tries} tries`,
  dead.ended_at,
]

export const webhooksRedrive: Command = {
  usage: 'webhooks redrive [DELIVERY]',
  about: 'try again: one delivery, or those of --endpoint, --since, or both',
  options: [...CHANGE, 'endpoint', 'since'],
  run: async (context, [delivery]) => {
    const { flags } = context
    const isBroad = flags.endpoint !== undefined || flags.since !== undefined
    if ((delivery === undefined) !== isBroad) {
      throw new CommandFault('Name a delivery, or --endpoint E or --since TIME or both of these.')
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
    return { value: done, lines: redriveLines(done.redriven, done.more) }
  },
}

function redriveLines(redriven: number, more: boolean): string[] {
  if (redriven === 0) {
    return ['Nothing to try again: what is under way or of a deleted endpoint is left alone.']
  }
  return [`${redriven} will be tried again`, ...(more ? ['There are more: repeat it.'] : [])]
}

function momentOf(text: string | undefined): number {
  if (text === undefined) return 0
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const at = isWhole ? Date.parse(text) : Number.NaN
  if (!(at >= 0)) {
    throw new CommandFault(`--since ${text} is no time, e.g. 2026-11-21T04:35:00Z.`)
  }
  return at
}

const endpointIn = ({ endpoint }: Context['flags']): { endpoint_id?: string } =>
  endpoint === undefined ? {} : { endpoint_id: endpoint }

export const webhooksEnable: Command = {
  usage: 'webhooks enable ENDPOINT',
  about: 'deliver what it holds, and what comes',
  options: CHANGE,
  run: (context, [endpoint = '']) => turn(context, 'EnableEndpoint', endpoint),
}

export const webhooksDisable: Command = {
  usage: 'webhooks disable ENDPOINT',
  about: 'hold its events until it is enabled',
  options: CHANGE,
  run: (context, [endpoint = '']) => turn(context, 'DisableEndpoint', endpoint),
}

async function turn(
  context: Context,
  name: 'EnableEndpoint' | 'DisableEndpoint',
  endpoint_id: string,
): Promise<Report> {
  const done = await context.webhooks.call(name, { actor: deciderOf(context), endpoint_id })
  return { value: done, lines: [`${done.endpoint_id} is ${done.status}`] }
}

export const webhooksPoison: Command = {
  usage: 'webhooks poison',
  about: 'messages on the bus that were no events of ours, the last seen first',
  run: async ({ webhooks }) => {
    const list = await webhooks.call('ListPoison', {})
    const rows = list.data.map(poisonRow)
    return { value: list, lines: [rows.length === 0 ? 'There are none.' : table(rows, [])] }
  },
}

const poisonRow = (poison: PoisonMessage): string[] => [
  poison.digest.slice(0, 12),
  poison.subject,
  poison.reason,
  `${poison.times} times until ${poison.last_seen}`,
  JSON.stringify(Buffer.from(poison.payload_base64, 'base64').toString('utf8').slice(0, 60)),
]
