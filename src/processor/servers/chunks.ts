/** Splits the entries of a stream into messages within the size limit of the receiver. */

const CHUNK_BYTES = 1024 * 1024
/** Other work waits for one chunk of an initial transfer at most. */
const CHUNK_ENTRIES = 256

export interface Chunk<Entry> {
  readonly entries: Entry[]
  readonly isLast: boolean
}

/**
 * Takes entries as chunks are taken, one ahead.
 *
 * @returns at least one chunk; sizes are of the JSON form, which is longer than protobuf
 */
export function* chunked<Entry extends object>(all: Iterable<Entry>): Generator<Chunk<Entry>> {
  let entries: Entry[] = []
  let bytes = 0
  for (const entry of all) {
    const size = Buffer.byteLength(JSON.stringify(entry))
    const isFull = entries.length === CHUNK_ENTRIES || bytes + size > CHUNK_BYTES
    if (isFull && entries.length > 0) {
      yield { entries, isLast: false }
      entries = []
      bytes = 0
    }
    entries.push(entry)
    bytes += size
  }
  yield { entries, isLast: true }
}
