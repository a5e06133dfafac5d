/**
 * Books that become a shard of a cluster keep the high-water mark that they had before; a release
 * begins an epoch above all marks, also when the process is killed before.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newId } from '../../../src/base/ids.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES, highWaterOf } from '../../../src/base/subjects.js'
import type { Recovery } from '../../../src/processor/background/recovery.js'
import { releaseRecovery } from '../../../src/processor/commands/operators/recovery_release.js'
import { readMarkFile, replaceMarkFile } from '../../../src/processor/recovery/high_water.js'
import type { Progress } from '../../../src/store/progress.js'
import { recoveryOn, writeMark } from './recoveries.js'
import { NO_FINDINGS, RELEASE } from '../../support/statements.js'
import { tempFolder } from '../../support/temp_folder.js'
import { codeOf, createWorld } from '../../support/world.js'
import { OPERATOR } from '../scenarios.js'

const folder = tempFolder(t)
const world = await createWorld({ testdir: () => folder, teardown: t.teardown.bind(t) })
const own = world.store.marks.progress()
const [former, ofShard] = [FILES.highWater, highWaterOf('books_1')]

const write = (file: string, mark: Progress): void => writeMark(world, mark, file)

/** In recovery mode books behind their marks are listed, and the process continues. */
async function sourcesAhead(): Promise<string[]> {
  const recovery = await restored()
  await recovery.close()
  return recovery.behind().map(({ reason }) => reason)
}

const restored = (publishedEpoch = 0, books = world.store): Promise<Recovery> =>
  recoveryOn(world, {
    books,
    highWaterFile: join(folder, ofShard),
    formerHighWaterFile: join(folder, former),
    requestedBy: 'RECOVERY=yes',
    publishedEpoch: () => Promise.resolve(publishedEpoch),
  })

/** @returns the epoch after it */
async function release(recovery: Recovery): Promise<number> {
  recovery.released()
  await recovery.close()
  return epochNow()
}

const ahead = { ...own, lastBatch: own.lastBatch + 3 }

const epochNow = (): number => world.store.marks.progress().epoch
const begunOnOthers = Math.floor(world.clock.now() / 1_000)

/** What a release begins now. On PostgreSQL owners can have begun an epoch a second. */
const epochAbove = (known: number): number =>
  Math.max(known, epochNow(), own.acceptedEpoch === undefined ? 0 : begunOnOthers) + 1

t.test('without a mark nothing is checked', async (t) => {
  t.same(await sourcesAhead(), [])
})

t.test('the former mark of these books is checked', async (t) => {
  write(former, ahead)
  t.match(await sourcesAhead(), [/^the books end 3 commits behind high_water\.json /])
})

t.test('the mark of other books in this data directory is ignored', async (t) => {
  write(former, { ...ahead, booksId: 'other' })
  t.same(await sourcesAhead(), [])
})

t.test('the mark of the shard replaces it', async (t) => {
  write(former, ahead)
  write(ofShard, { ...own, lastBatch: own.lastBatch + 1 })
  t.match(await sourcesAhead(), [/^the books end 1 commit behind high_water_books_1\.json /])
  write(ofShard, own)
  t.same(await sourcesAhead(), [])
})

t.test('in recovery mode the mark of a gateway is listed, and a release passes it', async (t) => {
  const recovery = await restored()
  await recovery.admitGateway({ ...own, lastBatch: own.lastBatch })
  t.same(recovery.behind(), [])
  await recovery.admitGateway({ ...own, epoch: 21, lastBatch: own.lastBatch + 2 })
  t.match(recovery.behind(), [{ reason: 'the books are in epoch 1, behind epoch 21 of a gateway' }])
  const expected = epochAbove(21)
  t.equal(await release(recovery), expected)
  const next = await restored()
  await next.admitGateway({ ...own, epoch: 21, lastBatch: own.lastBatch + 2 })
  t.match(next.behind().length, 0, 'a loss that was accepted')
  await next.close()
})

t.test('a release begins an epoch above that of every file and of the cluster', async (t) => {
  write(former, { ...own, epoch: 31 })
  write(ofShard, { ...own, epoch: 28 })
  const expected = epochAbove(35)
  t.equal(await release(await restored(35)), expected)
  write(former, { ...own, epoch: 51 })
  const expectedAgain = epochAbove(51)
  t.equal(await release(await restored(35)), expectedAgain)
})

t.test('on PostgreSQL it is also above those of owners on other machines', async (t) => {
  const { marks } = world.store
  const progress = (): Progress => ({ ...marks.progress(), acceptedEpoch: 0, lastBatchBefore: 0 })
  const began: number[] = []
  await release(
    await restored(0, {
      ...world.store,
      marks: { ...marks, progress },
      raiseEpoch: (above) => Promise.resolve(void began.push(above)),
    }),
  )
  t.same(began, [Math.max(begunOnOthers, epochNow())], 'one a second has begun, at most')
})

t.test('without a file a release begins an epoch above those of lost take-overs', async (t) => {
  for (const file of [former, ofShard]) rmSync(join(folder, file))
  const epoch = epochNow()
  t.equal(await release(await restored()), epoch + 1_001)
})

t.test('the next start finishes a release that was cut short, once', async (t) => {
  const world = await createWorld(t)
  const own = world.store.marks.progress()
  const epochNow = (): number => world.store.marks.progress().epoch
  const ahead = { ...own, epoch: own.epoch + 7, lastBatch: own.lastBatch + 30 }
  writeMark(world, ahead)
  const refuse = (reason: string): Promise<never> => Promise.reject(new Error(reason))
  const ports = { readMark: readMarkFile, replaceMark: replaceMarkFile, refuse }
  const started = (requestedBy?: string): Promise<Recovery> =>
    recoveryOn(world, { requestedBy, ports })
  const entered = await started('RECOVERY=yes')
  await entered.enter(world, world.memory())
  await entered.close()
  t.ok((await started()).isActive)
  t.equal(epochNow(), own.epoch, 'an epoch begins with the release only')
  t.equal(codeOf(await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))), 'ok')

  const refused: string[] = []
  const note = (reason: string): Promise<never> => {
    refused.push(reason)
    return new Promise(() => undefined)
  }
  const next = await recoveryOn(world, { ports: { ...ports, refuse: note } })
  const begun = epochNow()
  t.ok(begun > ahead.epoch)
  t.same([next.isActive, next.isVerified(), next.behind()], [false, true, []])
  const lost = newId('payout', world.clock.now(), systemRandom())
  t.notOk(await next.admitRail('sandbox', lost), 'a later loss')
  t.match(refused, [/^rail sandbox has instruction pout_/])
  await next.close()
  await started()
  t.equal(epochNow(), begun)
  writeMark(world, { ...world.store.marks.progress(), epoch: begun + 1 })
  await t.rejects(started(), /^the books are in epoch \d+, behind epoch \d+ of high_water\.json$/)
})

t.test('books from a release that was cut short are behind each later mark', async (t) => {
  const world = await createWorld(t)
  const refuse = (reason: string): Promise<never> => Promise.reject(new Error(reason))
  const ports = { readMark: readMarkFile, replaceMark: replaceMarkFile, refuse }
  const own = world.store.marks.progress()
  const lost = { ...own, epoch: own.epoch + 7, lastBatch: own.lastBatch + 30 }
  writeMark(world, lost)
  const entered = await recoveryOn(world, { requestedBy: 'RECOVERY=yes', ports })
  await entered.enter(world, world.memory())
  await entered.close()
  t.equal(codeOf(await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))), 'ok')

  // An epoch of PostgreSQL can be that of a time, which a release begins above.
  const accepted = Math.max(lost.epoch, own.acceptedEpoch === undefined ? 0 : begunOnOthers)
  writeMark(world, { ...lost, epoch: accepted + 1 })
  await t.rejects(
    recoveryOn(world, { ports }),
    /^the books are in epoch \d+, behind epoch \d+ of high_water\.json$/,
  )
  rmSync(join(world.folder, FILES.highWater))
  const withoutMark = await recoveryOn(world, { ports })
  t.notOk(withoutMark.isVerified(), 'without a mark the rail or the bus verifies them')
  await withoutMark.close()
  t.ok(world.store.marks.progress().epoch > accepted)
})
