/** Codecs of rail instructions and reports: round trips, and malformed messages. */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Order__Output } from '../../protos/types/causeway/rail/v1/Order.js'
import type { Report__Output } from '../../protos/types/causeway/rail/v1/Report.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { instant } from '../../src/base/clock.js'
import type { EffectId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { readRailInstruction, writeRailInstruction } from '../../src/rails/instruction_codec.js'
import {
  PURPOSES,
  REFUSALS,
  SCHEMES,
  SIMULATED_OUTCOMES,
  type RailInstruction,
  type RailReport,
} from '../../src/rails/rail.js'
import { readReport, writeReport } from '../../src/rails/report_codec.js'
import { anInstruction } from './harness.js'

const { Link } = contracts<ProtoGrpcType>().causeway.rail.v1.Rail.service

function encodedOrders(railInstruction: RailInstruction, shard = ''): Order__Output[] {
  const bytes = Link.requestSerialize({ orders: [writeRailInstruction(railInstruction, shard)] })
  return Link.requestDeserialize(bytes).orders
}

function encodedReports(report: RailReport): Report__Output[] {
  const bytes = Link.responseSerialize({ reports: [writeReport(report)] })
  return Link.responseDeserialize(bytes).reports
}

/** fast-check's records may otherwise lack a prototype. */
const plain = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(model, { noNullPrototype: true })

const id = fc
  .tuple(fc.constantFrom('pi_', 'pout_'), fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/))
  .map(([prefix, rest]) => (prefix + rest) as EffectId)
const amount = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })
const currency = fc.stringMatching(/^[A-Z]{3}$/)
const text = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .filter((s) => !/[\p{Cc}\p{Cs}]/u.test(s))
const name = fc.stringMatching(/^[!-~]{1,40}$/)

const environment = fc.constantFrom('sandbox' as const, 'production' as const)

const instruction = plain({
  id,
  environment,
  purpose: fc.constantFrom(...PURPOSES),
  amount,
  currency,
  destination: plain({
    scheme: fc.constantFrom(...SCHEMES),
    country: text,
    bankCode: text,
    account: text,
    accountType: text,
    reference1: text,
    reference2: text,
    name: text,
  }),
  reference: text,
  notAfter: fc.option(fc.integer({ min: 1, max: 2 ** 45 }).map(instant)),
  hint: text,
  route: name,
  rail: name,
})
const railInstruction: fc.Arbitrary<RailInstruction> = fc.oneof(
  plain({ kind: fc.constant('instruct' as const), instruction }),
  plain({ kind: fc.constant('query' as const), id, environment, route: name, rail: name }),
  plain({ kind: fc.constant('query' as const), id, environment }),
  plain({ kind: fc.constant('recall' as const), id, reason: text, environment, rail: name }),
  plain({ kind: fc.constant('acknowledge' as const), reportId: name }),
  plain({
    kind: fc.constant('simulate' as const),
    id,
    outcome: fc.constantFrom(...SIMULATED_OUTCOMES),
  }),
)
const about = { id, environment, reportId: fc.option(name) }
const report: fc.Arbitrary<RailReport> = fc.oneof(
  plain({
    ...about,
    status: fc.constantFrom('accepted' as const, 'not_found' as const, 'recall_refused' as const),
  }),
  plain({
    ...about,
    status: fc.constant('refused' as const),
    refusal: fc.constantFrom(...REFUSALS),
  }),
  plain({
    ...about,
    status: fc.constantFrom('executed' as const, 'returned' as const),
    transactionId: name,
    amount,
    currency,
    destinationAccount: text,
    destinationBank: name,
    route: name,
    rail: name,
  }),
)

t.test('every instruction survives the round trip', async (t) => {
  fc.assert(
    fc.property(railInstruction, (sent) => {
      deepStrictEqual(encodedOrders(sent).map(readRailInstruction), [sent])
    }),
  )
  t.pass('for every instruction')
})

t.test('an instruction has the shard of its link', async (t) => {
  const sent: RailInstruction[] = [
    { kind: 'instruct', instruction: anInstruction() },
    { kind: 'query', id: anInstruction().id, environment: 'sandbox' },
    { kind: 'recall', id: anInstruction().id, reason: '', environment: 'sandbox' },
  ]
  const orders = sent.map((each) => writeRailInstruction(each, 'books_2'))
  t.same(
    orders.map(({ instruct, query, recall }) => (instruct ?? query ?? recall)?.shard),
    ['books_2', 'books_2', 'books_2'],
  )
  t.match(encodedOrders(sent[0]!, 'books_2').map(readRailInstruction), [
    { instruction: { shard: 'books_2' } },
  ])
})

t.test('every report survives the round trip', async (t) => {
  fc.assert(
    fc.property(report, (sent) => {
      deepStrictEqual(encodedReports(sent).map(readReport), [sent])
    }),
  )
  t.pass('for every report')
})

const EXECUTED: Report__Output = {
  report_id: 'rep_1',
  id: 'pout_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  status: 'executed',
  transaction_id: 'T1',
  amount: '12345',
  currency: 'THB',
  refusal: '',
  destination_account: '1234567890',
  destination_bank: '',
  environment: '',
  shard: '',
  route: '',
  rail: '',
}

t.test('a report with a malformed member is rejected', async (t) => {
  t.ok(readReport(EXECUTED), 'the valid one')
  const wrong: Partial<Report__Output>[] = [
    { id: '' },
    { id: 'pout_1' },
    { id: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    { report_id: 'with space' },
    { report_id: 'x'.repeat(129) },
    { status: '' },
    { status: 'completed' },
    { status: 'constructor' },
    { status: 'refused', refusal: '' },
    { status: 'refused', refusal: 'no_mood' },
    { transaction_id: '' },
    { transaction_id: 'x'.repeat(129) },
    { transaction_id: 'line\nbreak' },
    { amount: '' },
    { amount: '0' },
    { amount: '-1' },
    { amount: '1.5' },
    { amount: '012' },
    { amount: '1e3' },
    { amount: '9223372036854775808' },
    { amount: '99999999999999999999' },
    { currency: 'thb' },
    { currency: 'THBX' },
    { destination_account: 'x'.repeat(1_025) },
    { destination_account: 'nul\0' },
    { destination_account: 'half\ud800' },
    { environment: 'moon' },
    { shard: 'books 1' },
    { rail: 'bank 1' },
    { route: 'x'.repeat(129) },
  ]
  for (const change of wrong) {
    t.equal(readReport({ ...EXECUTED, ...change }), undefined, JSON.stringify(change).slice(0, 60))
  }
})

t.test('an instruction with a malformed member is rejected', async (t) => {
  const [good] = encodedOrders({ kind: 'instruct', instruction: anInstruction() })
  const instruct = good?.instruct
  if (!instruct?.destination) throw new Error('an instruction has a destination')
  t.ok(readRailInstruction({ instruct }), 'the valid one')
  const { destination } = instruct
  const wrong = [
    { id: 'x' },
    { kind: 'gift' },
    { amount: '0' },
    { amount: '9223372036854775808' },
    { currency: '' },
    { destination: null },
    { destination: { ...destination, scheme: 'pix' } },
    { destination: { ...destination, name: 'a\u0007b' } },
    { reference: 'x'.repeat(1_025) },
    { not_after: '-1' },
    { environment: 'moon' },
    { shard: 'books 1' },
    { rail: 'bank 1' },
    { route: 'x'.repeat(129) },
    { not_after: '9223372036854775807' },
  ]
  for (const change of wrong) {
    const label = JSON.stringify(change).slice(0, 60)
    t.equal(readRailInstruction({ instruct: { ...instruct, ...change } }), undefined, label)
  }
  const known = instruct.id
  const environment = 'production'
  const of = { shard: '', route: '', rail: '', traceparent: '' }
  t.equal(readRailInstruction({ query: { id: known, environment: 'moon', ...of } }), undefined)
  t.equal(
    readRailInstruction({ recall: { id: known, reason: '', environment: 'moon', ...of } }),
    undefined,
  )
  t.equal(readRailInstruction({}), undefined)
  t.equal(readRailInstruction({ query: { id: 'x', environment, ...of } }), undefined)
  t.equal(readRailInstruction({ recall: { id: 'x', reason: '', environment, ...of } }), undefined)
  t.equal(
    readRailInstruction({ recall: { id: known, reason: '\0', environment, ...of } }),
    undefined,
  )
  t.equal(
    readRailInstruction({ recall: { id: known, reason: '\udfff', environment, ...of } }),
    undefined,
  )
  t.equal(readRailInstruction({ acknowledge: { report_id: '' } }), undefined)
  t.equal(readRailInstruction({ simulate: { id: known, outcome: 'lost' } }), undefined)
})

t.test('messages without an environment are read as sandbox', async (t) => {
  const [good] = encodedOrders({ kind: 'instruct', instruction: anInstruction() })
  if (!good?.instruct) throw new Error('an instruction was sent')
  const { id } = good.instruct
  const environment = ''
  const of = { shard: '', route: '', rail: '', traceparent: '' }
  t.match(readRailInstruction({ instruct: { ...good.instruct, environment } }), {
    instruction: { environment: 'sandbox' },
  })
  t.match(readRailInstruction({ query: { id, environment, ...of } }), { environment: 'sandbox' })
  t.match(readRailInstruction({ recall: { id, reason: '', environment, ...of } }), {
    environment: 'sandbox',
  })
  t.notOk('environment' in (readReport(EXECUTED) ?? {}))
  t.match(readReport({ ...EXECUTED, environment: 'production' }), { environment: 'production' })
})
