import t from 'tap'
import { noPostgres } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { CREATES, createBatches } from './create_batches.js'
import { describeMachine } from './machine.js'
import { coresOf, measureShards, shardFindings, type Side } from './shard_writers.js'

t.setTimeout(0)

const FINGERPRINT_BYTES = 8

t.test('a batch is what the processor commits for a chunk of creates', async (t) => {
  const [demo, ...batches] = await createBatches(tempFolder(t), 3)
  t.equal([...(demo?.rows.partners ?? [])].length, 1)
  t.equal(batches.length, 2)
  for (const { rows, ...batch } of batches) {
    t.equal([...(rows.intents ?? [])].length, CREATES)
    t.equal([...(rows.idempotency ?? [])].length, CREATES)
    for (const prints of [batch.nonces, batch.keyFingerprints, batch.userFingerprints]) {
      t.equal(prints?.length, CREATES * FINGERPRINT_BYTES)
    }
  }
})

const title = 'writers of one shard and of two store what they commit'
t.test(title, { skip: noPostgres }, async (t) => {
  const folder = tempFolder(t)
  const machine = { ...describeMachine(folder), fileSystem: 'ext4' }
  const tools = { folder, machine, progress: () => undefined }
  const { sections, voidBecause } = await measureShards(tools, { pairs: 1, batches: 4 })
  t.same(voidBecause, [])
  t.equal(sections.length, 2)
  for (const { findings } of sections) {
    for (const side of ['one writer', 'two writers', 'two servers']) {
      t.ok((findings.find(({ name }) => name === `${side}, creates`)?.value ?? 0) > 0)
    }
  }
})

t.test('the result is the ratio of neighbors', async (t) => {
  const played = (side: Side, rates: readonly number[]) =>
    rates.map((createsPerSecond) => {
      return { side, createsPerSecond, commitMs: 1, coresUsed: 2, coresElsewhere: 0 }
    })
  const findings = shardFindings([
    ...played('one writer', [100, 60, 100]),
    ...played('two writers', [180, 90, 200]),
    ...played('two servers', [190, 120, 200]),
  ])
  const value = (name: string) => findings.find((one) => one.name === name)?.value
  t.equal(value('two writers / one writer'), 1.8)
  t.equal(value('two writers / one writer, least of 3'), 1.5)
  t.equal(value('two writers / one writer, greatest of 3'), 2)
  t.equal(value('two servers / one writer'), 2)
  t.equal(value('one writer, creates'), 100)
})

t.test('the cores that a process may use', async (t) => {
  t.same(coresOf('Name:\tnode\nCpus_allowed_list:\t0-1\n'), [0, 1])
  t.same(coresOf('Cpus_allowed_list:\t2,5-7\n'), [2, 5, 6, 7])
})
