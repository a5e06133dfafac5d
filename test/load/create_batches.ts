/**
 * Commit batches of signed creates, as the processor's own pipeline makes them: intents with their
 * idempotency rows, and fingerprints of keys, users and nonces.
 *
 * - The first batch is the demo partner; each other one has a chunk of creates.
 * - Nothing is stored: the batches are to be committed later, in this order, to an empty schema.
 */
import { DECIDE_CHUNK_MAX } from '../../src/base/constants.js'
import { systemRandom } from '../../src/base/random.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { internalWork } from '../../src/processor/cycle/command.js'
import type { CommitRows, RowsByTable } from '../../src/store/store.js'
import { anIntent } from '../support/requests.js'
import { BY_TEST, createWorld, DEMO, viewOf } from '../support/world.js'

/** What the pipeline decides in one turn, so they are one batch. */
export const CREATES = DECIDE_CHUNK_MAX
const NONCE_BYTES = 32
const USERS = 5_000
/** Between two batches. */
const BATCH_MS = 5

/** @param folder of the pipeline's own small database */
export async function createBatches(folder: string, count: number): Promise<readonly CommitRows[]> {
  const random = systemRandom()
  const batches: CommitRows[] = []
  const world = await createWorld(
    { testdir: () => folder, teardown: () => undefined },
    {
      store: (store) => ({ ...store, commit: (batch) => Promise.resolve(void take(batch)) }),
    },
  )
  /** Its rows can be read once only. */
  function take(batch: CommitRows): void {
    const tables = Object.entries<Iterable<unknown>>(batch.rows)
    const rows: unknown = Object.fromEntries(tables.map(([name, given]) => [name, [...given]]))
    batches.push({ ...batch, rows: rows as RowsByTable })
  }
  const [key] = world.memory().keys.values()
  if (key === undefined) throw new Error('the demo partner has no key')
  let created = 0
  const create = (): Promise<Answer> => {
    created += 1
    const user = { partner_user_id: `user-${created % USERS}` }
    const request = anIntent({ ...user, idempotency_key: random.bytes(16).toString('hex') })
    const work = internalWork(createIntent(DEMO, request), 'request')
    const signedBy = {
      ...{ keyId: key.id, nonce: random.bytes(NONCE_BYTES) },
      signedAt: world.clock.now(),
    }
    const asRequest = { ...work, queueKey: DEMO, origin: BY_TEST, signedBy }
    return new Promise((reply) => world.submit({ ...asRequest, reply }))
  }
  while (batches.length < count) {
    world.clock.pass(BATCH_MS)
    const answers = await Promise.all(Array.from({ length: CREATES }, create))
    for (const answer of answers) viewOf(answer)
  }
  await world.close()
  return batches
}
