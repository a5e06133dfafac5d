/** The tables of operations in the guides, from the entries in src/api. */
import { ROUTES } from '../../gateway/app.js'
import type { AnyRoute } from '../../gateway/routing/route.js'
import { withTable } from './guide_table.js'

const PARTNER_HEAD = '| Method | Path | Authentication | Success |'
const INTERNAL_HEAD = '| HTTP | gRPC (`causeway.v1`) | TypeScript client |'

const PROOFS: Readonly<Record<AnyRoute['auth'], string>> = {
  hmac: 'signature',
  session: 'session token',
  hmac_or_session: 'signature or session token',
  receipt: 'receipt token',
  none: 'none',
}

/** Calls of internal services that are not operations of partners. */
export const GRPC_ONLY: Readonly<Record<string, string>> = {
  'PaymentIntents.ListByUser': 'the list with a `partner_user_id`',
  'Events.Watch': 'a stream; HTTP polls `GET /v1/events`',
}

export const withPartnerOperations = (guide: string): string =>
  withTable(
    guide,
    PARTNER_HEAD,
    ROUTES.map((route) => [
      ...[route.method, `\`${route.path}\``, PROOFS[route.auth], successOf(route)],
    ]),
  )

function successOf(route: AnyRoute): string {
  const { answer, answerText } = route.operation
  if (answer === null)
    return `none: ${route.operation.errors.map((code) => `\`${code}\``).join(', ')}`
  const text = `${answerText.charAt(0).toLowerCase()}${answerText.slice(1, -1)}`
  if (route.auth === 'none') return `200, ${text}`
  return route.operation.replayed === undefined ? `${route.operation.success}, ${text}` : text
}

export const withRpcs = (guide: string): string =>
  withTable(guide, INTERNAL_HEAD, [
    ...ROUTES.map((route) => {
      const { method, path, auth, operation } = route
      const rpc = auth === 'none' ? route.operation.noRpc : `\`${route.operation.rpc}\``
      const client = operation.client === null ? 'a document' : `\`${operation.client}\``
      return [`\`${method} ${path}\``, rpc, client]
    }),
    ...Object.entries(GRPC_ONLY).map(([rpc, why]) => [why, `\`${rpc}\``, '–']),
  ])
