/**
 * Time limits for the statements of a connection.
 *
 * - A connection that the network dropped stays open without an answer for many minutes; only a
 *   time limit detects it.
 * - A statement is not cancelled, so the outcome of a write is unknown.
 */

/** The process must restart: its statement may have been executed. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
  /** @param fault how long it waited, in milliseconds, or why the connection ended */
  constructor(fault: number | Error) {
    super(
      typeof fault === 'number'
        ? `no answer from the server within ${fault} ms`
        : `the connection to the server was lost: ${fault.message}`,
      typeof fault === 'number' ? undefined : { cause: fault },
    )
  }
}

/** SQLSTATE of a server that shuts down, and of a failed connection. */
const IS_GONE = /^(57P|08)/
/** What the driver throws when a connection ends. */
const ENDED = /^(Connection terminated|Client has encountered a connection error|.* E[A-Z]+$)/

/** NoAnswer instead of the error of a connection that has ended; any other error as it is. */
export function lostOr(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof NoAnswer) return error
  const { code, severity } = error as { readonly code?: string; readonly severity?: string }
  const isLost = severity === undefined ? ENDED.test(error.message) : IS_GONE.test(code ?? '')
  return isLost ? new NoAnswer(error) : error
}

/** The statements of one connection, which are answered in order. */
export interface Answers {
  readonly withinMs: number
  ask<Answer>(query: () => Promise<Answer>): Promise<Answer>
  /** When the oldest statement without an answer was sent, if that is too long ago. */
  overdueSince(): number | undefined
}

/** @param elapsed monotonic, milliseconds */
export function createAnswers(elapsed: () => number, withinMs: number): Answers {
  const unanswered: number[] = []
  return {
    withinMs,
    ask: (query) => {
      unanswered.push(elapsed())
      return query().finally(() => unanswered.shift())
    },
    overdueSince: () => {
      const [oldest] = unanswered
      return oldest !== undefined && elapsed() - oldest >= withinMs ? oldest : undefined
    },
  }
}

/** For statements that are rare: each has a timer. @throws NoAnswer */
export function answerWithin<Answer>(query: Promise<Answer>, withinMs: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(new NoAnswer(withinMs))
    timer = setTimeout(() => setImmediate(refuse), withinMs) // after answers that have arrived
  })
  return Promise.race([query, late]).finally(() => clearTimeout(timer))
}
