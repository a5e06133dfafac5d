/**
 * What we booked of the rail's movements, for those who hold it against the rail's statement.
 *
 * Owns: the stream and its pace. Does not own: the rows (queries/rail_movements), the comparison
 * (src/reconciliation, at the caller).
 *
 * - Who reads and why is on disk before the first page leaves.
 * - One page is in memory a stream; the next one is read when the reader has taken it. The
 *   comparison costs the processor nothing but these pages.
 */
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ConcludeRequest__Output as Conclude } from '../../../protos/types/causeway/v1/ConcludeRequest.js'
import type { MovementPage } from '../../../protos/types/causeway/v1/MovementPage.js'
import type { MovementsRequest__Output as MovementsRequest } from '../../../protos/types/causeway/v1/MovementsRequest.js'
import type { ReconciliationHandlers } from '../../../protos/types/causeway/v1/Reconciliation.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import type { ErrorCode } from '../../base/errors.js'
import type { Command } from '../cycle/command.js'
import { noteAction } from '../commands/operators/action_note.js'
import { railMovements, railMovementsOf, type MovementsView } from '../queries/rail_movements.js'
import { admitsStream, endStream } from './auth_interceptor.js'
import { by, ours } from './operator/calls.js'
import { decided, unary, unaryQuery, type UnaryDependencies } from './unary_handler.js'

type Stream = ServerWritableStream<MovementsRequest, MovementPage>

/** Each holds a page and a turn of the reading connection. */
const STREAMS_MAX = 4
const LAST_INSTANT = 8_640_000_000_000_000

export function reconciliationService(dependencies: UnaryDependencies): ReconciliationHandlers {
  const { auth } = dependencies
  let open = 0

  const movements = async (stream: Stream): Promise<void> => {
    if (!admitsStream(auth, stream)) return
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
    Conclude: unary(dependencies, (request) => ours(conclusion(request))),
  }
}

function conclusion({ actor, statement, outcome, ...period }: Conclude): Command | null {
  const subject = periodIn(period)
  if (subject === null || statement.trim() === '') return null
  const evidence = `${statement}: ${outcome}`
  return by(actor, (a) => noteAction(a, { action: 'reconcile', subject: subject.name, evidence }))
}

/** Sends page by page; resolves with what was wrong, or null. */
async function send(dependencies: UnaryDependencies, stream: Stream): Promise<ErrorCode | null> {
  const { actor, ...request } = stream.request
  const period = periodIn(request)
  const subject = period?.name ?? ''
  const note = by(actor, (a) => noteAction(a, { action: 'read_movements', subject }))
  if (period === null || note === null) return 'invalid_request'
  const noted = await decided(dependencies, { queueKey: 'ours', command: note })
  if (!noted.ok) return noted.code

  let after: MovementsView['next'] = { at: period.from, posting: -1 }
  while (after !== null && !stream.cancelled) {
    const read = await dependencies.reader.run(railMovements(after, period.to))
    if (!read.ok) return read.code
    const { data, next } = read.view as MovementsView
    after = next
    if (data.length > 0 && !stream.write({ data: [...data] })) await taken(stream)
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

/** The reader has room again, or has gone. */
async function taken(stream: Stream): Promise<void> {
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  stream.once('cancelled', leave)
  stream.once('close', leave)
  await once(stream, 'drain', { signal: gone.signal }).catch(() => undefined)
  stream.off('cancelled', leave)
  stream.off('close', leave)
}
