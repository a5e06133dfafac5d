/** Both clients repeat a request with its key wherever its answer is cut. */
import t, { type Test } from 'tap'
import { ConflictError, createClient } from '../../src/client/index.js'
import { cuttingServer, type CuttingServer } from './cutting_server.js'
import { runPython, skipsPython } from './python_suite.js'
import { PAYOUT } from './scripted_service.js'

/** Every key with its cut answer. An answer without its last byte may be a whole one. */
const keysOf = ({ lengths }: CuttingServer): readonly string[] =>
  Object.entries(lengths).flatMap(([form, length]) =>
    Array.from({ length }, (_, offset) => `${form}-${offset}`),
  )

function assertRepeated(t: Test, server: CuttingServer): void {
  const keys = keysOf(server)
  t.ok(keys.length > 1_000)
  t.same(
    keys.filter((key) => server.requests.get(key) !== 2),
    [],
    'each was repeated once',
  )
  t.equal(server.onDeadConnections(), 0, 'no connection with a cut answer was used again')
}

t.test('the TypeScript client', async (t) => {
  const server = await cuttingServer(t)
  const client = createClient(
    { baseUrl: server.baseUrl, keyId: 'a_sandbox_2026q4', secret: 'sk' },
    { sleep: () => Promise.resolve() },
  )
  const wrong: string[] = []
  for (const idempotencyKey of keysOf(server)) {
    const outcome = await client.payouts.create(PAYOUT, { idempotencyKey }).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof ConflictError ? 'refused' : String(error)),
    )
    const wanted = idempotencyKey.startsWith('refused') ? 'refused' : 'processing'
    if (outcome !== wanted) wrong.push(`${idempotencyKey}: ${outcome}`)
  }
  t.same(wrong, [])
  assertRepeated(t, server)
})

t.test('the Python client', { skip: skipsPython }, async (t) => {
  const server = await cuttingServer(t)
  const { stdout } = await runPython('cut_answers.py', {
    BASE_URL: server.baseUrl,
    KEYS: keysOf(server).join(' '),
  })
  t.same(JSON.parse(stdout), [])
  assertRepeated(t, server)
})
