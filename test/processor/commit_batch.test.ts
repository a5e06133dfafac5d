/** What a commit batch keeps of the changes of its commands. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { createCommitBatch } from '../../src/processor/cycle/commit_batch.js'
import type { Row } from '../../src/store/tables.js'

const NOW = instant(1_700_000_000_000)
const balance = (amount: bigint): Row<'accounts'> => ({ id: 'a', balance: amount })

t.test('the last version of a row is committed', async (t) => {
  const batch = createCommitBatch(1)
  batch.stage('accounts', 'a', balance(1n))
  batch.stage('accounts', 'a', balance(2n))
  t.equal(batch.changes, 2, 'each change counts for the bound of a batch')
  t.same([...(batch.toCommit(NOW, null).rows.accounts ?? [])], [balance(2n)])
})

t.test('replies are sent in the order of their commands', async (t) => {
  const batch = createCommitBatch(1)
  const sent: string[] = []
  for (const name of ['one', 'two', 'three'])
    batch.addReply(() => void sent.push(name), { ok: true, view: {}, replayed: false })
  t.ok(batch.hasReplies())
  t.notOk(batch.hasRows(), 'a read writes nothing')
  batch.sendReplies()
  t.same(sent, ['one', 'two', 'three'])
})
