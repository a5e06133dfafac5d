/**
 * Streams the booked rail movements to a reconciliation, and records its conclusion.
 *
 * Does not own: the rows (queries/rail_movements), the comparison (src/reconciliation, in the
 * caller).
 *
 * - The operator's name and reason are committed before the first page is sent.
 * - Each stream holds one page in memory; the next page is read when the client has received it.
 */
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ConcludeRequest__Output as Conclude } from '../../../protos/types/causeway/operator/v1/ConcludeRequest.js'
import type { MovementPage } from '../../../protos/types/causeway/operator/v1/MovementPage.js'
import type { MovementsRequest__Output as MovementsRequest } from '../../../protos/types/causeway/operator/v1/MovementsRequest.js'
import type { ReconciliationHandlers } from '../../../protos/types/causeway/operator/v1/Reconciliation.js'
import type { ErrorCode } from '../../base/errors.js'
import type { Command } from '../cycle/command.js'
import { noteAction } from '../commands/operators/action_note.js'
import { railMovements, railMovementsOf, type MovementsView } from '../queries/rail_movements.js'
import { createPageStreams } from './page_streams.js'
import { periodOf } from './period.js'
import { drained } from './drained.js'
import {
  actingAs,
  decided,
  ownWork,
  unary,
  unaryQuery,
  type UnaryDependencies,
} from './unary_handler.js'

type MovementStream = ServerWritableStream<MovementsRequest, MovementPage>

export function reconciliationService(dependencies: UnaryDependencies): ReconciliationHandlers {
  const streams = createPageStreams()
  return {
    Movements: streams((stream: MovementStream) => send(dependencies, stream)),
    MovementsOf: unaryQuery(dependencies, ({ instruction_ids }) =>
      railMovementsOf(instruction_ids),
    ),
    Conclude: unary(dependencies, (request) => ownWork(conclusion(request))),
  }
}

function conclusion({ actor, statement, outcome, ...period }: Conclude): Command | null {
  const subject = periodOf(period)
  if (subject === null || statement.trim() === '') return null
  const evidence = `${statement}: ${outcome}`
  return actingAs(actor, (a) =>
    noteAction(a, { action: 'reconcile', subject: subject.name, evidence }),
  )
}

/** Sends page by page. @returns the error that stopped it, or null */
async function send(
  dependencies: UnaryDependencies,
  stream: MovementStream,
): Promise<ErrorCode | null> {
  const { actor, ...request } = stream.request
  const period = periodOf(request)
  const subject = period?.name ?? ''
  const note = actingAs(actor, (a) => noteAction(a, { action: 'read_movements', subject }))
  if (period === null || note === null) return 'invalid_request'
  const logged = await decided(dependencies, stream.metadata, {
    queueKey: 'internal',
    command: note,
  })
  if (!logged.ok) return logged.code

  let after: MovementsView['next'] = { at: period.from, posting: -1 }
  while (after !== null && !stream.cancelled) {
    const read = await dependencies.reader.run(railMovements(after, period.to))
    if (!read.ok) return read.code
    const { data, next } = read.view as MovementsView
    after = next
    if (data.length > 0 && !stream.write({ data: [...data] })) await drained(stream)
  }
  return null
}
