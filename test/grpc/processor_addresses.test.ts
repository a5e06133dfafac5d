/** The addresses of the processors: a list, or a name. */
import t from 'tap'
import { sharedName, watchProcessorAddresses } from '../../src/grpc/processor_addresses.js'
import { eventually } from '../support/eventually.js'

t.test('only a single DNS name may have several addresses', async (t) => {
  t.equal(sharedName(['processors.internal:50051']), 'processors.internal')
  for (const fixed of [
    ['a.internal:1', 'b.internal:1'],
    ['10.0.0.7:50051'],
    ['[fd00::1]:50051'],
    ['localhost:50051'],
    ['unix:/run/processor.sock'],
    [],
  ]) {
    t.equal(sharedName(fixed), null, fixed.join())
  }
})

t.test('a list is used as it is', async (t) => {
  const found: string[] = []
  const list = ['a.internal:1', 'unix:/run/b.sock']
  watchProcessorAddresses(list, (addresses) => found.push(addresses.join()), {
    warn: () => t.fail('nothing is resolved'),
  })
  t.same(found, [list.join()])
})

t.test('a name is resolved again and again; a failure keeps the last addresses', async (t) => {
  const answers = [['10.0.0.2', 'fd00::1', '10.0.0.1'], null, null, ['10.0.0.3']]
  let lookups = 0
  const found: string[] = []
  const warnings: string[] = []
  const watch = watchProcessorAddresses(
    ['processors.internal:50051'],
    (addresses) => found.push(addresses.join()),
    { warn: (_, text) => warnings.push(text) },
    {
      everyMs: 5,
      resolve: (host) => {
        t.equal(host, 'processors.internal')
        const answer = answers[Math.min(lookups++, 3)]
        return answer ? Promise.resolve(answer) : Promise.reject(new Error('no such host'))
      },
    },
  )
  await eventually('the changed addresses', () => found.length > 1)
  watch.stop()
  t.same(found.slice(0, 2), ['10.0.0.1:50051,10.0.0.2:50051,[fd00::1]:50051', '10.0.0.3:50051'])
  t.same(warnings, ['processor name not resolved'], 'once')
})
