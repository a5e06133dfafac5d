/** Detection of low disk space. */
import t from 'tap'
import { freeBytesOf, watchFreeSpace } from '../../src/files/free_space.js'

const RESERVE = 800

function aWatch(reserveBytes = RESERVE) {
  const logged: string[] = []
  let free: number | Error = 10_000
  const space = watchFreeSpace({
    reserveBytes,
    read: () => (free instanceof Error ? Promise.reject(free) : Promise.resolve(free)),
    log: {
      warn: (_facts: unknown, text?: string) => void logged.push(`warn ${text}`),
      info: (_facts: unknown, text?: string) => void logged.push(`info ${text}`),
    },
  })
  const lowWith = async (next: number | Error): Promise<boolean> => {
    free = next
    await space.check()
    return space.isLow()
  }
  return { space, logged, lowWith }
}

t.test('space is low below the reserve, until an eighth more is free', async (t) => {
  const { space, logged, lowWith } = aWatch()
  t.equal(space.freeBytes(), null)
  t.notOk(space.isLow())
  t.notOk(await lowWith(800))
  t.ok(await lowWith(799))
  t.ok(await lowWith(800), 'hysteresis')
  t.ok(await lowWith(899))
  t.notOk(await lowWith(900))
  t.notOk(await lowWith(800))
  t.ok(await lowWith(0))
  t.equal(space.freeBytes(), 0)
  t.same(logged, [
    'warn disk almost full: writes are refused, reads continue',
    'info disk space recovered: writes are accepted',
    'warn disk almost full: writes are refused, reads continue',
  ])
})

t.test('an unreadable value changes nothing', async (t) => {
  const { space, logged, lowWith } = aWatch()
  t.ok(await lowWith(1))
  t.ok(await lowWith(new Error('EIO')))
  t.equal(space.freeBytes(), 1)
  t.equal(logged.at(-1), 'warn free disk space cannot be read')
  const { length } = logged
  t.ok(await lowWith(new Error('EIO')))
  t.equal(logged.length, length, 'once')
  t.ok(await lowWith(2))
  t.ok(await lowWith(new Error('EIO')))
  t.equal(logged.length, length + 1, 'again after a check that succeeded')
})

t.test('without a reserve space is never low', async (t) => {
  const { lowWith } = aWatch(0)
  t.notOk(await lowWith(0))
})

t.test('the real free space is checked at startup', async (t) => {
  const folder = t.testdir()
  t.ok((await freeBytesOf(folder)) > 0)
  const space = watchFreeSpace({
    reserveBytes: 2 ** 60,
    read: () => freeBytesOf(folder),
    log: { warn: () => undefined, info: () => undefined },
  })
  await space.start()
  t.ok(space.isLow())
  await space.stop()
})
