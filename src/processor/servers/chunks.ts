/** Entries of a stream in messages that any receiver takes. */

const CHUNK_BYTES = 1024 * 1024
const CHUNK_ENTRIES = 4_096

export interface Chunk<Entry> {
  readonly entries: Entry[]
  readonly isLast: boolean
}

/** One at least. JSON is longer than the wire's form, so no chunk is larger than it looks. */
export function chunked<Entry extends object>(all: readonly Entry[]): readonly Chunk<Entry>[] {
  const chunks: Entry[][] = []
  let chunk: Entry[] = []
  let bytes = 0
  for (const entry of all) {
    const size = Buffer.byteLength(JSON.stringify(entry))
    const isFull = chunk.length === CHUNK_ENTRIES || bytes + size > CHUNK_BYTES
    if (isFull && chunk.length > 0) {
      chunks.push(chunk)
      chunk = []
      bytes = 0
    }
    chunk.push(entry)
    bytes += size
  }
  chunks.push(chunk)
  return chunks.map((entries, i) => ({ entries, isLast: i === chunks.length - 1 }))
}
