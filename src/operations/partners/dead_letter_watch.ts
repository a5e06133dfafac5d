/**
 * Dead letters of a partner's webhook endpoints, as they grow: for `listen`.
 *
 * - It asks the partner API: the newest deliveries of each endpoint, every few seconds. A failed
 *   call is repeated with the next round.
 * - Those that were dead before its start are counted, not listed.
 */
import type { Clock } from '../../base/clock.js'
import type { Connection } from '../../client/index.js'

const EVERY_MS = 3_000
/** Dead deliveries read at once for each endpoint, the newest first. */
const PAGE = 100

interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly status: string
  readonly ended_at: string | null
  readonly reason: string | null
}

export interface DeadLetterWatch {
  stop(): Promise<void>
}

/** @param print one line of text */
export function watchDeadLetters(
  partner: Pick<Connection, 'request'>,
  clock: Clock,
  print: (line: string) => void,
): DeadLetterWatch {
  const startedAt = clock.now()
  const known = new Set<string>()
  let isFirst = true
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const round = async (): Promise<void> => {
    const fresh = (await deadLetters(partner)).filter(({ key }) => !known.has(key))
    for (const { key } of fresh) known.add(key)
    const earlier = fresh.filter(({ endedAt }) => endedAt < startedAt)
    if (isFirst && earlier.length > 0) print(`dead before this start: ${earlier.length}`)
    for (const each of fresh) if (!earlier.includes(each)) print(each.line)
    isFirst = false
  }

  let running: Promise<void> = Promise.resolve()
  const schedule = (): void => {
    running = round()
      .catch(() => undefined)
      .finally(() => {
        if (!isStopped) timer = setTimeout(schedule, EVERY_MS)
      })
  }
  schedule()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

interface DeadLetterLine {
  /** Differs when a redriven delivery dies again. */
  readonly key: string
  /** Epoch milliseconds. */
  readonly endedAt: number
  readonly line: string
}

/** Oldest first. */
async function deadLetters(partner: Pick<Connection, 'request'>): Promise<DeadLetterLine[]> {
  const dead: DeadLetterLine[] = []
  for (const { id } of await listOf<{ readonly id: string }>(partner, '')) {
    const deliveries = await listOf<Delivery>(partner, `/${id}/deliveries?limit=${PAGE}`)
    for (const each of deliveries.reverse()) {
      if (each.status !== 'dead') continue
      const { event_type: type, event_id: event, reason, ended_at: ended } = each
      const line = `dead: ${type} ${event} at ${id}: ${reason ?? 'no reason'}`
      dead.push({ key: `${each.id} ${ended ?? ''}`, endedAt: Date.parse(ended ?? ''), line })
    }
  }
  return dead
}

async function listOf<Row>(partner: Pick<Connection, 'request'>, path: string): Promise<Row[]> {
  const { status, body, text } = await partner.request('GET', `/v1/webhook_endpoints${path}`)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return [...(body as { readonly data: readonly Row[] }).data]
}
