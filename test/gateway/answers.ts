/**
 * Splits the bytes of a connection into responses.
 *
 * There are two kinds: JSON of the gateway with a Content-Length, and the pages that uWebSockets.js
 * sends before it closes a connection whose head it cannot parse.
 */
export interface SeenAnswer {
  readonly status: number
  /** Undefined on a page of uWebSockets.js. */
  readonly json: unknown
}

/**
 * Undefined when the bytes are neither, or continue after the last response. A large response that
 * was cut is left out.
 */
export function answersIn(text: string): readonly SeenAnswer[] | undefined {
  const answers: SeenAnswer[] = []
  let rest = text.replaceAll(CONTINUE, '')
  while (rest !== '') {
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(rest)?.[1] ?? Number.NaN)
    const headEnd = rest.indexOf('\r\n\r\n')
    if (Number.isNaN(status) || headEnd < 0) return undefined
    const head = rest.slice(0, headEnd)
    const body = rest.slice(headEnd + 4)
    if (OWN_PAGE.test(body)) return [...answers, { status, json: undefined }]
    const length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? Number.NaN)
    if (!/^content-type: application\/json$/im.test(head) || Number.isNaN(length)) return undefined
    if (body.length < length) return length > AT_ONCE_BYTES ? answers : undefined
    answers.push({ status, json: JSON.parse(body.slice(0, length)) as unknown })
    rest = body.slice(length)
  }
  return answers
}

/** A larger answer is cut off when invalid bytes follow its request. */
const AT_ONCE_BYTES = 16 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const OWN_PAGE = /^<h1>[A-Za-z ]+<\/h1>.*<i>uWebSockets\/20 Server<\/i>$/s

/** The error in an envelope. */
export const errorOf = (json: unknown): { code: string; message: string; request_id: string } =>
  (json as { error: { code: string; message: string; request_id: string } }).error

/** Whether the value is an error envelope. */
export function isEnvelope(json: unknown): boolean {
  if (!hasMembers(json, ['error'])) return false
  const { error } = json as { error: unknown }
  if (!hasMembers(error, ['code', 'message', 'request_id'])) return false
  return Object.values(error as object).every((value) => typeof value === 'string')
}

const hasMembers = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === names.join()
