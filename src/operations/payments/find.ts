/** `find`: what an id, a reference, an idempotency key or a partner's user stands for. */
import type { FoundEntity__Output as FoundEntity } from '../../../protos/types/causeway/operator/v1/FoundEntity.js'
import type { FoundEvent__Output as FoundEvent } from '../../../protos/types/causeway/operator/v1/FoundEvent.js'
import type { FoundList__Output as FoundList } from '../../../protos/types/causeway/operator/v1/FoundList.js'
import type { CliCommand } from '../cli/command.js'
import { isRequestId, linesOfRequest, type LoggedLine } from './request_logs.js'
import { table } from '../cli/terminal.js'
import { missingLines } from '../partners/webhooks.js'

export const find: CliCommand = {
  usage: 'find ID',
  about: 'by request, entity, event or delivery id, reference, idempotency key, partner user',
  run: async ({ operator, logs: folder }, [text = '']) => {
    const [found, logged] = await Promise.all([
      operator.call('Find', { text }),
      isRequestId(text) ? linesOfRequest(folder, text) : undefined,
    ])
    const isNothing = found.data.length === 0 && found.actions.length === 0
    return {
      value: logged === undefined ? found : { ...found, logged },
      lines: [
        ...(isNothing ? [`Nothing found for ${text} in the books.`] : foundLines(found)),
        ...(isRequestId(text) ? loggedLines(logged, folder) : []),
      ],
      exitCode: isNothing && (logged ?? []).length === 0 ? 1 : 0,
    }
  },
}

function loggedLines(logged: readonly LoggedLine[] | undefined, folder: string): string[] {
  if (logged === undefined) return [`This machine has no logs in ${folder}.`]
  if (logged.length === 0) return [`No line in ${folder}: look on the machine of the gateway.`]
  return [
    `in ${folder}`,
    table(
      logged.map(({ at, process, message, fields }) => [
        ...[`  ${at}`, process, message],
        fields.map(([name, value]) => `${name}=${value}`).join(' '),
      ]),
      [],
    ),
  ]
}

function foundLines(found: FoundList): string[] {
  const actions = found.actions.map(({ at, ...rest }) => [
    at,
    rest.actor,
    rest.action,
    rest.subject,
  ])
  return [
    ...found.data.flatMap(entityLines),
    ...(actions.length === 0 ? [] : ['actions', table(actions, [])]),
    ...unknownLines(found),
  ]
}

function unknownLines(found: FoundList): readonly string[] {
  if (!found.deliveries_unknown) return []
  const missing = missingLines(found)
  if (missing.length > 0) return missing
  return ['Deliveries are missing: a webhook pool did not answer, or they are too many.']
}

function entityLines(entity: FoundEntity): string[] {
  const { id, kind, tenant, state, at, found_by, request_id, failure_code, events, archive } =
    entity
  const facts = [
    ['  tenant', tenant],
    ['  state', failure_code === undefined ? state : `${state} (${failure_code})`],
    ['  created', request_id === undefined ? at : `${at} by ${request_id}`],
    ['  found by', found_by],
    ...(archive === undefined ? nextStep(kind, id) : [['  archive', archive]]),
  ]
  return [
    `${kind} ${id}`,
    table(
      facts.filter(([, value]) => value !== ''),
      [],
    ),
    ...(events.length === 0 ? [] : [table(events.flatMap(eventRows), [])]),
  ]
}

function nextStep(kind: string, id: string): string[][] {
  if (kind === 'payout') return [['  more', `payout show ${id}`]]
  if (kind === 'payment_intent') return [['  more', `intent show ${id}`]]
  return []
}

function eventRows({ id, type, at, cause, request_id, deliveries }: FoundEvent): string[][] {
  return [
    [`  ${at}`, type, id, request_id === undefined ? cause : `${cause} ${request_id}`],
    ...deliveries.map((delivery) => [
      '',
      `  ${delivery.state}`,
      delivery.id,
      `to ${delivery.endpoint_id}, ${delivery.attempts} attempts, ${delivery.reason || 'none yet'}`,
    ]),
  ]
}
