/**
 * PostgreSQL's binary form of one-dimensional arrays, for parameters of many rows.
 *
 * Source: array_recv in PostgreSQL's arrayfuncs.c. The driver sends buffers in binary.
 */
const TEXT_OID = 25
const BIGINT_OID = 20
const HEADER_BYTES = 20
const BIGINT_BYTES = 8
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
/** The most bytes of a UTF-16 unit in UTF-8. */
const UTF8_BYTES_MAX = 3
const SCRATCH_BYTES = 1 << 16
const WORD = 2 ** 32

/** Reused, as the size of a text is known once it is written. */
let scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

export function textArray(values: readonly (string | null)[]): Buffer {
  let most = HEADER_BYTES
  for (const value of values)
    most += LENGTH_BYTES + (value === null ? 0 : UTF8_BYTES_MAX * value.length)
  if (most > scratch.length) scratch = Buffer.allocUnsafe(2 * most)
  let at = writeHeader(scratch, values, TEXT_OID)
  for (const value of values) {
    if (value === null) {
      at = scratch.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    const length = scratch.write(value, at + LENGTH_BYTES)
    scratch.writeInt32BE(length, at)
    at += LENGTH_BYTES + length
  }
  return Buffer.from(scratch.subarray(0, at))
}

/** @param values whole numbers, or bigints of 64 bits */
export function bigintArray(values: readonly (number | bigint | null)[]): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + BIGINT_BYTES))
  let at = writeHeader(array, values, BIGINT_OID)
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    at = array.writeInt32BE(BIGINT_BYTES, at)
    at =
      typeof value === 'bigint' ? array.writeBigInt64BE(value, at) : writeNumber(array, value, at)
  }
  return array.subarray(0, at)
}

/** Without a bigint, which is an object. */
function writeNumber(array: Buffer, value: number, at: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number`)
  const high = Math.floor(value / WORD)
  array.writeInt32BE(high, at)
  return array.writeUInt32BE(value - high * WORD, at + BIGINT_BYTES / 2)
}

/** Dimensions, null flag, type, length, lower bound. */
function writeHeader(array: Buffer, values: readonly unknown[], type: number): number {
  array.writeInt32BE(1, 0)
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(type, 8)
  array.writeInt32BE(values.length, 12)
  array.writeInt32BE(1, 16)
  return HEADER_BYTES
}
