/**
 * Scenario: signed reads, in the proportions of a partner that polls and reconciles.
 *
 * Owns: which reads there are and how often each. What is read was there before (fixtures).
 */
import type { Piece } from '../client/request_template.js'
import { createWorkloadMix, type Part } from './workload_mix.js'
import { COMPLETED, NOTHING_ACKNOWLEDGED, unexpected, type Scenario } from './scenario.js'
import type { Fixtures } from './fixtures.js'
import { createPresignedRequests, type Signing } from '../client/presigned_requests.js'

export interface ReadsOptions extends Signing {
  readonly connections: number
  readonly fixtures: Fixtures
  /** One kind alone. */
  readonly onlyRead?: string
}

/** One kind of read: its target, and what fills the fields of it. */
export interface Read {
  readonly name: string
  readonly weight: number
  readonly target: readonly Piece[]
  /** The texts one field takes, in turns; empty: it has no field. */
  readonly texts: readonly string[]
}

export function createReads(options: ReadsOptions): Scenario {
  const { onlyRead } = options
  const reads = readsOf(options.fixtures).filter(({ name }) => name === (onlyRead ?? name))
  const parts = reads.map((read): Part => ({
    weight: read.weight,
    scenario: createRead(read, options),
  }))
  return createWorkloadMix(options.connections, parts)
}

export function readsOf({
  intents,
  payouts,
  beneficiaries,
  references,
}: Fixtures): readonly Read[] {
  const page = 'limit=20'
  const of = (
    name: string,
    weight: number,
    before: string,
    texts: readonly string[] = [],
    after = '',
  ): Read => ({
    name,
    weight,
    target: texts.length === 0 ? [before] : [before, { width: texts[0]?.length ?? 0 }, after],
    texts,
  })
  return [
    of('intent', 40, '/v1/payment_intents/', intents),
    of('payout', 30, '/v1/payouts/', payouts),
    of('payouts', 8, `/v1/payouts?${page}`),
    of('payouts by status', 6, `/v1/payouts?status=completed&${page}`),
    of('payouts by reference', 5, '/v1/payouts?reference=', references, `&${page}`),
    of('payouts by beneficiary', 4, '/v1/payouts?beneficiary_id=', beneficiaries, `&${page}`),
    of('beneficiaries', 2, `/v1/beneficiaries?${page}`),
    of('balance transactions', 2, `/v1/balance_transactions?${page}`),
    of('balances', 3, '/v1/balances'),
  ]
}

/** Journeys of one kind of read. */
function createRead({ target, texts }: Read, options: ReadsOptions): Scenario {
  let next = 0
  const presigned = createPresignedRequests(
    {
      method: 'GET',
      target,
      body: [],
      withKey: false,
      fields: () => {
        if (texts.length === 0) return []
        next += 1
        return [texts[next % texts.length] ?? '']
      },
    },
    options,
  )
  const requests = Array.from({ length: options.connections }, () => presigned.blank())
  return {
    prepare: presigned.signAhead,
    last: presigned.last,
    begin: (connection) => {
      const request = requests[connection]
      return request !== undefined && presigned.next(request) ? request : undefined
    },
    proceed: (_connection, answer) => (answer.status === 200 ? COMPLETED : unexpected(answer)),
    hear: () => undefined,
    abandon: () => undefined,
    acknowledged: () => NOTHING_ACKNOWLEDGED,
  }
}
