/** Random bytes that are the same in every run: SHA-256 of a counter. */
import { createHash } from 'node:crypto'
import type { Random } from '../../src/base/random.js'

export function fixedRandom(seed = 'seed'): Random {
  let drawn = 0
  const bytes = (count: number): Buffer => {
    const blocks: Buffer[] = []
    for (let have = 0; have < count; have += 32) {
      drawn += 1
      blocks.push(createHash('sha256').update(`${seed} ${drawn}`).digest())
    }
    return Buffer.concat(blocks).subarray(0, count)
  }
  return { bytes, fraction: () => bytes(4).readUInt32LE(0) / 2 ** 32 }
}
