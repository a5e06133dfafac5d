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
import { instant, toRfc3339 } from '../../base/clock.js'
import type { ErrorCode } from '../../base/errors.js'
import type { Command } from '../cycle/command.js'
import { noteAction } from '../commands/operators/action_note.js'
import { railMovements, railMovementsOf, type MovementsView } from '../queries/rail_movements.js'
import { drained } from './drained.js'
import { endStream } from './grpc_error.js'
import {
  actingAs,
  decided,
  ownWork,
  unary,
  unaryQuery,
  type UnaryDependencies,
} from './unary_handler.js'

type Stream = ServerWritableStream<MovementsRequest, MovementPage>

/** Each holds a page in memory and shares the read connection. */
const STREAMS_MAX = 4
const LAST_INSTANT = 8_640_000_000_000_000

export function reconciliationService(dependencies: UnaryDependencies): ReconciliationHandlers {
  let open = 0

  const movements = async (stream: Stream): Promise<void> => {
    if (open >= STREAMS_MAX) return endStream(stream, 'rate_limited')
    open += 1
    try {
      const fault = await send(dependencies, stream)
      if (fault === null) stream.end()
      else endStream(stream, fault)
    } finally {
      open -= 1
    }
  }

  return {
    Movements: (stream) => void movements(stream),
    MovementsOf: unaryQuery(dependencies, ({ instruction_ids }) =>
      railMovementsOf(instruction_ids),
    ),
    Conclude: unary(dependencies, (request) => ownWork(conclusion(request))),
  }
}

function conclusion({ actor, statement, outcome, ...period }: Conclude): Command | null {
  const subject = periodIn(period)
  if (subject === null || statement.trim() === '') return null
  const evidence = `${statement}: ${outcome}`
  return actingAs(actor, (a) =>
    noteAction(a, { action: 'reconcile', subject: subject.name, evidence }),
  )
}

/** Sends page by page. @returns the error that stopped it, or null */
async function send(dependencies: UnaryDependencies, stream: Stream): Promise<ErrorCode | null> {
  const { actor, ...request } = stream.request
  const period = periodIn(request)
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

function periodIn({ from, to }: { readonly from: string; readonly to: string }): {
  readonly from: number
  readonly to: number
  readonly name: string
} | null {
  const [first, end] = [Number(from), Number(to)]
  if (first < 0 || end <= first || end > LAST_INSTANT) return null
  const name = `${toRfc3339(instant(first))} to ${toRfc3339(instant(end))}`
  return { from: first, to: end, name }
}
