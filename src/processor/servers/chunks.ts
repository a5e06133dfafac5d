/** Splits the entries of a stream into messages within the size limit of the receiver. */

const CHUNK_BYTES = 1024 * 1024
const CHUNK_ENTRIES = 4_096

export interface Chunk<Entry> {
  readonly entries: Entry[]
  readonly isLast: boolean
}

/** @returns at least one chunk; sizes are of the JSON form, which is longer than protobuf */
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
