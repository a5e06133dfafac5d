/** The movements stream: back-pressure, and the bound on open streams. */
import { Writable } from 'node:stream'
import type { ServerWritableStream, ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import type { MovementPage } from '../../protos/types/causeway/operator/v1/MovementPage.js'
import type { MovementsRequest__Output as MovementsRequest } from '../../protos/types/causeway/operator/v1/MovementsRequest.js'
import { GrpcStatus } from '../../src/base/errors.js'
import { bearer } from '../../src/grpc/bearer.js'
import { systemRandom } from '../../src/base/random.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { reconciliationService } from '../../src/processor/servers/reconciliation.js'
import { createWorld } from '../support/world.js'
import { eventually } from '../support/eventually.js'

/** An endless supply of pages. */
const ENDLESS = answer({ data: [{ id: '1' }], next: { at: 1, posting: 1 } })

/** A call whose client receives the first page, and the next only after `read`. */
function slowCall() {
  const held: (() => void)[] = []
  const faults: ServiceError[] = []
  let pages = 0
  const sink = new Writable({
    objectMode: true,
    highWaterMark: 1,
    write: (_page, _encoding, done) => {
      pages += 1
      held.push(done)
    },
  })
  sink.on('error', (error) => faults.push(error as unknown as ServiceError))
  const request = { actor: { name: 'ann', reason: 'a test' }, from: '0', to: '9' }
  const call = Object.assign(sink, { metadata: bearer('token'), request, cancelled: false })
  return {
    call: call as unknown as ServerWritableStream<MovementsRequest, MovementPage>,
    faults,
    pages: () => pages,
    read: () => held.shift()?.(),
    leave: () => {
      call.cancelled = true
      call.emit('cancelled')
    },
  }
}

t.test('each stream holds one page, and at most four streams are open', async (t) => {
  const world = await createWorld(t)
  let reads = 0
  const { Movements } = reconciliationService({
    clock: world.clock,
    random: systemRandom(),
    memory: world.memory(),
    pipeline: { submit: ({ reply }) => reply(answer({})) },
    reader: {
      run: async () => {
        reads += 1
        return ENDLESS
      },
    },
  })
  const open = () => {
    const slow = slowCall()
    Movements(slow.call)
    return slow
  }
  const four = [open(), open(), open(), open()]
  await eventually('each stream has its first page', async () =>
    four.every(({ pages }) => pages() === 1),
  )
  t.equal(reads, 4, 'no page is read ahead')
  four[0]!.read()
  await eventually('the next page', async () => four[0]!.pages() === 2)
  t.equal(reads, 5)

  t.match(open().faults, [{ code: GrpcStatus.RESOURCE_EXHAUSTED }])
  four[1]!.leave()
  const next = await eventually('a stream slot is free', async () => {
    const slow = open()
    return slow.faults.length === 0 && slow
  })
  await eventually('the next stream is read', async () => next.pages() === 1)
  for (const slow of [...four, next]) slow.leave()
})
