/**
 * The numbers from which a processor counts on: of postings, events, batches, fingerprints.
 *
 * - With a damaged one every commit would fail, and so would every start. The start stops with a
 *   sentence instead.
 */

/** @param what what has the number, as the operator reads it. @throws Error that names it */
export function checkedNumber(what: string, number: number): number {
  if (number >= 0 && Number.isSafeInteger(number)) return number
  throw new Error(`${what} has the number ${number}, which is damaged: restore it`)
}

const FINGERPRINT_BYTES = 8

/** @throws Error unless the bytes of this row are at least one fingerprint, and whole ones */
export function checkFingerprints(table: string, number: number, { length }: Uint8Array): void {
  if (length > 0 && length % FINGERPRINT_BYTES === 0) return
  throw new Error(`row ${number} of ${table} has ${length} bytes, so it is damaged: restore it`)
}
