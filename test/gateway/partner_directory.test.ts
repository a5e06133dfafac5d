/** The directory subscription: snapshots, freshness, reconnect. */
import t, { type Test } from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { watchDirectory, type WatchedDirectory } from '../../gateway/upstream/partner_directory.js'
import { readinessOf } from '../../gateway/readiness.js'
import { openOpsHttp, ownReadiness } from '../../src/process/ops_http.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { KEY_ID, snapshot } from './signing_partner.js'
import { startProcessorStub } from './processor_stub.js'

function watch(t: Test, address: string): WatchedDirectory {
  const directory = watchDirectory(address, new Metadata(), log)
  t.teardown(() => directory.stop())
  return directory
}

t.test('there are no partners before a complete snapshot', async (t) => {
  const processorStub = await startProcessorStub(t, {
    snapshot: [{ ...snapshot(), complete: false }],
  })
  const directory = watch(t, processorStub.address)
  await eventually('the gateway has subscribed', () => processorStub.subscribers > 0)
  processorStub.breakDirectory()
  await eventually('the gateway has subscribed again', () => processorStub.subscribers > 0)
  t.equal(directory.partners(), undefined)
  t.equal(directory.fresh, false)
  processorStub.publish({ complete: true })
  await directory.known
  t.ok(directory.partners()?.key(KEY_ID))
  t.equal(directory.fresh, true)
})

t.test(
  'after a broken stream the snapshot stays, is not fresh, and is then replaced',
  async (t) => {
    const first = await startProcessorStub(t)
    const directory = watch(t, first.address)
    await directory.known
    first.crash()
    await eventually('the directory is not fresh', () => !directory.fresh)
    t.ok(directory.partners()?.key(KEY_ID), 'the last snapshot is in use')

    // The key was removed while the stream was broken.
    const withoutKeys = [snapshot({ keys: [] })]
    await startProcessorStub(t, { snapshot: withoutKeys, address: first.address })
    await eventually('the directory is fresh again', () => directory.fresh)
    t.equal(directory.partners()?.key(KEY_ID), undefined)
  },
)

t.test('/readyz reports a stale directory', async (t) => {
  const sentFirst = [snapshot()]
  const processorStub = await startProcessorStub(t, { snapshot: sentFirst })
  const directory = watch(t, processorStub.address)
  await directory.known
  const readiness = () =>
    readinessOf({ listening: true, streamOpen: true, directoryFresh: directory.fresh })
  const ops = await openOpsHttp(
    { host: '127.0.0.1', port: 0, hosts: [] },
    { readiness: ownReadiness('gateway', readiness), metrics: () => Promise.resolve('') },
  )
  t.teardown(() => ops.close())
  const readyAnswer = async (): Promise<[number, unknown]> => {
    const answer = await fetch(`${ops.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  const state = { listening: true, streamOpen: true, directoryFresh: true }
  t.same(await readyAnswer(), [200, { ready: true, ...state }])

  sentFirst.length = 0
  processorStub.breakDirectory()
  await eventually('the directory is stale', () => !directory.fresh)
  t.same(await readyAnswer(), [503, { ready: false, ...state, directoryFresh: false }])
  await eventually('the gateway has subscribed again', () => processorStub.subscribers > 0)
  processorStub.publish(snapshot())
  await eventually('the directory is fresh again', () => directory.fresh)
  t.same(await readyAnswer(), [200, { ready: true, ...state }])
})
