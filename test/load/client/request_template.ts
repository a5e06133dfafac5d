/**
 * A request of which only a few fields change, all of fixed width.
 *
 * Owns: where each field stands. A supply of a million requests then is only their fields, and
 * sending one is a few copies into its connection's buffer. Does not own: what the fields mean
 * (scenarios).
 *
 * - Text is ASCII: a character is a byte.
 */
import assert from 'node:assert/strict'

export interface Field {
  readonly width: number
}

/** Fixed text and fields in the order in which they are sent. */
export type Piece = string | Field

export interface RequestTemplate {
  /** Bytes of a whole request. */
  readonly bytes: number
  /** Bytes of its fields alone. */
  readonly recordBytes: number
  /** A request with empty fields. */
  blank(): Buffer
  /** Writes the fields' texts, in their order, as one record. */
  write(records: Buffer, index: number, texts: readonly string[]): void
  /** Copies a record into a request. */
  fill(request: Buffer, records: Buffer, index: number): void
}

interface Place {
  readonly inRequest: number
  readonly inRecord: number
  readonly width: number
}

export function createRequestTemplate(pieces: readonly Piece[]): RequestTemplate {
  const places: Place[] = []
  let text = ''
  let recordBytes = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    places.push({ inRequest: text.length, inRecord: recordBytes, width: piece.width })
    recordBytes += piece.width
    text += ' '.repeat(piece.width)
  }
  return {
    bytes: text.length,
    recordBytes,
    blank: () => Buffer.from(text, 'latin1'),
    write: (records, index, texts) => {
      const base = index * recordBytes
      for (const [at, { inRecord, width }] of places.entries()) {
        const value = texts[at] ?? ''
        assert.equal(value.length, width, `field ${at} has another width`)
        records.write(value, base + inRecord, 'latin1')
      }
    },
    fill: (request, records, index) => {
      const base = index * recordBytes
      for (const { inRequest, inRecord, width } of places) {
        records.copy(request, inRequest, base + inRecord, base + inRecord + width)
      }
    },
  }
}
