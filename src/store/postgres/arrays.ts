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

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES
  for (const value of values)
    bytes += LENGTH_BYTES + (value === null ? 0 : Buffer.byteLength(value))
  const array = Buffer.allocUnsafe(bytes)
  let at = writeHeader(array, values, TEXT_OID)
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    const length = array.write(value, at + LENGTH_BYTES)
    array.writeInt32BE(length, at)
    at += LENGTH_BYTES + length
  }
  return array
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
    at = array.writeBigInt64BE(BigInt(value), at)
  }
  return array.subarray(0, at)
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
