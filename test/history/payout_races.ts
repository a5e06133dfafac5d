/** Races of payouts: for one balance, and for idempotency keys. */
import type { HttpAnswer, Partner } from '../support/partner.js'
import { requestDeposit, requestPayout, retryUntilFinal } from '../support/payments.js'
import { createRecorder } from './history.js'
import {
  balance,
  idempotencyKey,
  type BalanceInput,
  type BalanceOutput,
  type KeyInput,
  type KeyOutput,
} from './models.js'
import { codeOf, faultsOf, once, untilAnswered, type Race, type Racers } from './race.js'

const CURRENCY = 'VND'
const AMOUNTS = ['100000', '150000', '250000'] as const
/** Enough for some payouts, and not for all. */
const AT_START = 1_000_000n
const FUNDS = 200_000n

const payout = (partner: Partner, name: string, amount: string): Promise<HttpAnswer> =>
  requestPayout(partner, name, { amount })

const deposit = (partner: Partner, name: string, amount: bigint): Promise<HttpAnswer> =>
  requestDeposit(partner, name, String(amount))

const balances = (partner: Partner): Promise<HttpAnswer> => partner.request('GET', '/v1/balances')

function availableIn({ body }: HttpAnswer): bigint {
  const { data } = body as { data: { currency: string; available: string }[] }
  return BigInt(data.find(({ currency }) => currency === CURRENCY)?.available ?? '0')
}

const isAccepted = ({ status }: HttpAnswer): boolean => status === 202 || status === 200

/** Deposits and payouts of one balance, and reads of it. */
export async function balanceRace(racers: Racers): Promise<Race> {
  const { partners, rounds } = racers
  const recorder = createRecorder<BalanceInput, BalanceOutput>()
  const [first] = partners
  await retryUntilFinal(() => deposit(first, 'before', 10_000_000n))
  const totals = new Map<string, bigint>()
  for (const amount of AMOUNTS) {
    const { body } = await retryUntilFinal(() => payout(first, `payout of ${amount}`, amount))
    totals.set(amount, BigInt((body as { total: string }).total))
  }
  const funded = availableIn(await retryUntilFinal(() => balances(first)))
  await retryUntilFinal(() => payout(first, 'the rest', String(funded - AT_START)))
  const initial = availableIn(await retryUntilFinal(() => balances(first)))

  const pay = (partner: Partner, name: string, amount: string) =>
    recorder.record({ kind: 'pay', total: totals.get(amount) ?? 0n }, () =>
      untilAnswered<BalanceOutput>(
        racers,
        () => payout(partner, name, amount),
        (answer) => {
          if (isAccepted(answer)) return 'done'
          return codeOf(answer) === 'insufficient_balance' ? 'insufficient' : 'unexpected'
        },
      ),
    )
  const fund = (partner: Partner, name: string) =>
    recorder.record({ kind: 'deposit', amount: FUNDS }, () =>
      untilAnswered<BalanceOutput>(
        racers,
        () => deposit(partner, name, FUNDS),
        ({ status }) => (status === 201 || status === 200 ? 'done' : 'unexpected'),
      ),
    )
  const read = (partner: Partner) =>
    recorder.record({ kind: 'read' }, () =>
      once<BalanceOutput>(
        racers,
        () => balances(partner),
        (answer) => (answer.status === 200 ? { available: availableIn(answer) } : 'unexpected'),
      ),
    )

  return {
    run: async (client) => {
      const partner = partners[client]!
      for (let round = 0; round < rounds; round++) {
        const name = `${client} ${round}`
        await pay(partner, `pay ${name}`, AMOUNTS[(client + round) % AMOUNTS.length]!)
        await read(partner)
        if (round % 3 === client % 3) await fund(partner, `fund ${name}`)
      }
    },
    faults: () => faultsOf('the balance', { ...balance, initial }, recorder.operations),
    hasEveryOutcome: () => {
      const outputs = recorder.operations.map(({ output }) => output)
      return outputs.includes('done') && outputs.includes('insufficient')
    },
  }
}

/** Payouts of two amounts under the same keys. */
export function keyRace(racers: Racers): Race {
  const { partners, rounds, name = '' } = racers
  const recorders = Array.from({ length: rounds }, () => createRecorder<KeyInput, KeyOutput>())
  return {
    run: async (client) => {
      for (const [round, recorder] of recorders.entries()) {
        const amount = AMOUNTS[client % 2]!
        await recorder.record(amount, () =>
          untilAnswered<KeyOutput>(
            racers,
            () => payout(partners[client]!, `shared ${name}${round}`, amount),
            (answer) => {
              if (codeOf(answer) === 'duplicate_payout') return 'conflict'
              if (!isAccepted(answer)) return 'unexpected'
              return { id: (answer.body as { id: string }).id, isNew: answer.status === 202 }
            },
          ),
        )
      }
    },
    faults: () =>
      recorders.flatMap(({ operations }, round) =>
        faultsOf(`key ${name}${round}`, idempotencyKey, operations),
      ),
    hasEveryOutcome: () =>
      recorders.every(({ operations }) => operations.length === partners.length),
  }
}
