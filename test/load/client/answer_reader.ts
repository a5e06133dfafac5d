/** The gateway's answers out of a connection's bytes: their status and their body. */
import { createMessageReader } from './message_reader.js'

export interface Answer {
  readonly status: number
  /** Good until the connection reads on. */
  readonly body: Buffer
}

export type AnswerReading = Answer | 'incomplete' | 'unreadable'

export interface AnswerReader {
  read(chunk: Buffer): AnswerReading
}

const STATUS = /^HTTP\/1\.1 ([0-9]{3}) /

export function createAnswerReader(): AnswerReader {
  const reader = createMessageReader(STATUS)
  return {
    read: (chunk) => {
      const reading = reader.read(chunk)
      if (typeof reading === 'string') return reading
      return { status: Number(reading.first[1]), body: reading.body }
    },
  }
}
