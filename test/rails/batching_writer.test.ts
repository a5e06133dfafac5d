/** The batching writer against a stream with back-pressure. */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { STREAM_BATCH_MAX } from '../../src/base/constants.js'
import { createBatchingWriter, type BatchingWriter } from '../../src/rails/batching_writer.js'

/** A stream that accepts `capacity` messages, then needs a `drain`. */
function aSink(capacity: number) {
  const messages: number[][] = []
  let drained: () => void = () => undefined
  let left = capacity
  return {
    messages,
    items: () => messages.flat(),
    write: (message: number[]): boolean => {
      messages.push(message)
      left -= 1
      return left > 0
    },
    on: (_event: 'drain', listener: () => void): void => {
      drained = listener
    },
    drain: (): void => {
      left = capacity
      drained()
    },
  }
}

const batchingWriterInto = (
  sink: ReturnType<typeof aSink>,
  bound: number,
): BatchingWriter<number> =>
  createBatchingWriter({ sink, pack: (items: readonly number[]) => [...items], bound })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const range = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => from + index)

t.test('items of one event-loop iteration leave in one message', async (t) => {
  const sink = aSink(10)
  const writer = batchingWriterInto(sink, 100)
  writer.push([1, 2])
  writer.push([3])
  t.equal(sink.messages.length, 0)
  t.equal(writer.waiting(), 3)
  await turn()
  t.strictSame(sink.messages, [[1, 2, 3]])
  t.equal(writer.waiting(), 0)
})

t.test('a message holds at most STREAM_BATCH_MAX items', async (t) => {
  const sink = aSink(10)
  batchingWriterInto(sink, 10_000).push(range(STREAM_BATCH_MAX * 2 + 1))
  await turn()
  t.strictSame(
    sink.messages.map((message) => message.length),
    [STREAM_BATCH_MAX, STREAM_BATCH_MAX, 1],
  )
})

t.test('a slow reader causes back-pressure and the buffer stays bounded', async (t) => {
  const sink = aSink(1)
  const writer = batchingWriterInto(sink, 5)
  writer.push([0])
  await turn()
  t.strictSame(sink.messages, [[0]])
  t.equal(writer.push(range(7, 1)), 2, 'two are rejected')
  await turn()
  t.equal(writer.waiting(), 5)
  let empty = false
  const emptied = writer.empty().then(() => {
    empty = true
  })
  await turn()
  t.equal(empty, false)
  sink.drain()
  await emptied
  t.strictSame(sink.items(), [0, 1, 2, 3, 4, 5])
})

t.test('a closed writer accepts and sends nothing, and empty() resolves', async (t) => {
  const sink = aSink(10)
  const writer = batchingWriterInto(sink, 5)
  writer.push([1])
  const emptied = writer.empty()
  writer.close()
  await emptied
  t.equal(writer.push([2]), 1)
  await turn()
  t.strictSame(sink.messages, [])
})

t.test('nothing is lost, duplicated or reordered at any pace', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('push', 'drain', 'yield'), { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, capacity) => {
        const sink = aSink(capacity)
        const writer = batchingWriterInto(sink, 2_000)
        const taken: number[] = []
        for (const [index, step] of steps.entries()) {
          if (step === 'drain') sink.drain()
          if (step === 'yield') await turn()
          if (step === 'push') {
            const items = range(300, index * 300)
            taken.push(...items.slice(0, items.length - writer.push(items)))
          }
        }
        await turn()
        while (writer.waiting() > 0) sink.drain()
        deepStrictEqual(sink.items(), taken)
      },
    ),
    { numRuns: 40 },
  )
  t.pass('for every pace')
})
