/** The recorded examples are complete, documented and correctly signed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROUTES } from '../../gateway/app.js'
import type { Examples } from '../../gateway/openapi/examples.js'
import { EVENT_TYPES } from '../../src/base/event_types.js'
import { canonicalRequest, signatureOf } from '../../src/client/signing.js'
import { projectRoot } from '../../src/base/project_root.js'
import { readDocument } from '../support/documented_answers.js'
import { wholePartnerGuide } from '../support/partner_guide.js'
import { createAnswerValidator } from './answer_validator.js'
import { EXAMPLES_FILE } from './generated_files.js'
import { operationsShown, withExamples } from './guide_examples.js'
import { createNormalizer, WEBHOOK_SECRET } from './normalize.js'

/** Its example would be the document itself. */
const WITHOUT_EXAMPLE = 'getOpenApiDocument'
const examples = JSON.parse(readFileSync(join(projectRoot(), EXAMPLES_FILE), 'utf8')) as Examples
const { faultOf, faultOfEvent } = createAnswerValidator(readDocument())
type Headers = Readonly<Record<string, string>>
const lowerCased = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const canonicalOf = (headers: Headers, method: string, path: string, body?: unknown): string =>
  canonicalRequest({
    ...{ method, path, timestamp: headers['X-Service-Timestamp'] ?? '' },
    nonce: headers['X-Service-Nonce'] ?? '',
    body: body === undefined ? '' : JSON.stringify(body),
  })

t.test(
  'every operation has an example (else add it to record.ts and run make examples)',
  async (t) => {
    for (const { id } of ROUTES.map(({ operation }) => operation)) {
      if (id !== WITHOUT_EXAMPLE) t.ok(examples.operations[id]?.[0], id)
    }
  },
)

t.test('every recorded answer is documented and every signature is valid', async (t) => {
  for (const [id, recordedCalls] of Object.entries(examples.operations)) {
    for (const { name, request, answer } of recordedCalls) {
      const { method, path, headers, body } = request
      const received = { ...answer, headers: lowerCased(answer.headers) }
      t.equal(faultOf(method, path, received), undefined, `${id} ${name}`)
      const signature = headers['X-Service-Signature']
      if (signature === undefined) continue
      const canonical = canonicalOf(headers, method, path.split('?', 1).join(), body)
      t.equal(signature, signatureOf(canonical, examples.signing_secret), `${id} ${name}: signed`)
    }
  }
})

t.test('every webhook is documented and correctly signed', async (t) => {
  t.same(Object.keys(examples.webhooks), EVENT_TYPES, 'every type has an example')
  for (const [type, { headers, body }] of Object.entries(examples.webhooks)) {
    t.equal(faultOfEvent(body), undefined, type)
    const canonical = canonicalOf(headers, 'POST', '/hooks', body)
    t.equal(headers['X-Service-Signature'], signatureOf(canonical, WEBHOOK_SECRET), type)
  }
})

t.test('recorded ids, times and secrets are normalized', async (t) => {
  const { json, replace } = createNormalizer()
  replace('http://127.0.0.1:41234', 'https://partner.example')
  t.same(
    json({
      id: 'pout_01KAJ0V8X0ABCDEFGHJKMNPQRS',
      same: 'of pout_01KAJ0V8X0ABCDEFGHJKMNPQRS',
      created_at: '2030-01-01T00:00:00.000Z',
      session_expires_at: 5,
      url: 'http://127.0.0.1:41234/hooks',
      completed_at: null,
    }),
    {
      id: 'pout_01KAJ0V8X00000000000000001',
      same: 'of pout_01KAJ0V8X00000000000000001',
      created_at: '2026-11-21T04:35:40.123Z',
      session_expires_at: 1_795_236_040,
      url: 'https://partner.example/hooks',
      completed_at: null,
    },
  )
})

t.test('a section of the guide whose operation has no example yet stays as it is', async (t) => {
  const guide = '<!-- example createNothing -->\n<!-- end -->'
  t.equal(await withExamples(guide, examples), guide)
})

t.test('the guide shows the example of every operation once (else add its section)', async (t) => {
  const documented = Object.values(readDocument().paths)
    .flatMap((operations) => Object.values(operations).map(({ operationId }) => operationId))
    .filter((id) => id !== WITHOUT_EXAMPLE)
  t.ok(documented.length > 30)
  t.same([...operationsShown(wholePartnerGuide())].sort(), documented.sort())
})
