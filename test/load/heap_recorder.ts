/**
 * Loaded into a program with --import: collects all garbage again and again, and appends what is
 * still in use to `<pid>.heap`, a line of JSON each time.
 *
 * - V8 collects the old generation when it has grown by some factor, so at a low rate the memory of
 *   a process rises for an hour without a leak. What is in use after a collection does not.
 * - External memory, such as buffers, is included.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in use, and when: epoch milliseconds. */
export interface HeapSample {
  readonly at: number
  readonly bytes: number
}

const { searchParams } = new URL(import.meta.url)
const file = join(searchParams.get('folder') ?? '.', `${process.pid}.heap`)
const everyMs = Number(searchParams.get('every_ms'))
// Node 20 does not accept --expose-gc in NODE_OPTIONS, which the stack's processes inherit.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

setInterval(() => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  const sample: HeapSample = { at: Date.now(), bytes: heapUsed + external }
  appendFileSync(file, `${JSON.stringify(sample)}\n`)
}, everyMs).unref()
