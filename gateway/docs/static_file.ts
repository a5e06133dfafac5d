/** A file for browsers, ready to be sent: all of it is in memory from the start of the process. */
import type { AnswerHeaders } from '../http/request_context.js'

export interface StaticFile {
  readonly content: Buffer
  /** All but X-Request-Id and framing. */
  readonly headers: AnswerHeaders
}

/** By path. */
export type StaticFiles = ReadonlyMap<string, StaticFile>
