/** The models refuse what the API must never answer. */
import t from 'tap'
import type { Operation } from './history.js'
import { checkHistory, type Model } from './linearizability.js'
import { balance, idempotencyKey, intent, signedRequest } from './models.js'

type HistoryCall<Input, Output> = readonly [Input, Output]

/** Whether these calls, one after another, can have these answers. */
const inTurn = <State, Input, Output>(
  model: Model<State, Input, Output>,
  ...calls: readonly HistoryCall<NoInfer<Input>, NoInfer<Output>>[]
): boolean => isPossible(model, calls, (at) => ({ calledAt: 2 * at, returnedAt: 2 * at + 1 }))

/** Whether these calls, all at once, can have these answers. */
const atOnce = <State, Input, Output>(
  model: Model<State, Input, Output>,
  ...calls: readonly HistoryCall<NoInfer<Input>, NoInfer<Output>>[]
): boolean => isPossible(model, calls, () => ({ calledAt: 0, returnedAt: 100 }))

function isPossible<State, Input, Output>(
  model: Model<State, Input, Output>,
  calls: readonly HistoryCall<Input, Output>[],
  timesOf: (at: number) => Pick<Operation<Input, Output>, 'calledAt' | 'returnedAt'>,
): boolean {
  const history = calls.map(([input, output], at) => ({ input, output, ...timesOf(at) }))
  return checkHistory(model, history).kind === 'linearizable'
}

t.test('a balance', async (t) => {
  const deposit = [{ kind: 'deposit', amount: 10n }, 'done'] as const
  const pay = (total: bigint) => [{ kind: 'pay', total }, 'done'] as const
  const refused = (total: bigint) => [{ kind: 'pay', total }, 'insufficient'] as const
  const read = (available: bigint) => [{ kind: 'read' }, { available }] as const

  t.ok(inTurn(balance, deposit, pay(10n), refused(1n), read(0n)))
  t.notOk(inTurn(balance, deposit, pay(10n), pay(1n)), 'more than there is')
  t.notOk(atOnce(balance, deposit, pay(6n), pay(6n)), 'more at once')
  t.notOk(inTurn(balance, deposit, refused(10n)), 'a refusal without cause')
  t.notOk(inTurn(balance, deposit, pay(4n), read(10n)), 'a payout that is not seen')
  t.notOk(inTurn(balance, deposit, deposit, read(10n)), 'a deposit that is lost')
})

t.test('an idempotency key', async (t) => {
  const made = (request: string, id: string, isNew: boolean) => [request, { id, isNew }] as const

  t.ok(inTurn(idempotencyKey, made('a', '1', true), made('a', '1', false), ['b', 'conflict']))
  t.ok(inTurn(idempotencyKey, made('a', '1', false)), 'its first answer was lost')
  t.notOk(atOnce(idempotencyKey, made('a', '1', true), made('a', '2', true)), 'two')
  t.notOk(atOnce(idempotencyKey, made('a', '1', true), made('b', '1', false)), 'other')
  t.notOk(inTurn(idempotencyKey, ['a', 'conflict']), 'a conflict with nothing')
})

t.test('a signed request', async (t) => {
  t.ok(atOnce(signedRequest, ['send', 'refused'], ['send', 'accepted']))
  t.notOk(atOnce(signedRequest, ['send', 'accepted'], ['send', 'accepted']), 'twice')
  t.notOk(inTurn(signedRequest, ['send', 'refused']), 'never')
})

t.test('an intent', async (t) => {
  const scan = [
    { kind: 'scan', amount: '5' },
    { status: 'created', amount: '5' },
  ] as const
  const confirm = (key: string, amount = '5') =>
    [
      { kind: 'confirm', key },
      { status: 'authorized', amount },
    ] as const
  const refusedConfirm = (key: string) => [{ kind: 'confirm', key }, 'refused'] as const
  const cancel = [{ kind: 'cancel' }, { status: 'cancelled', amount: '5' }] as const
  const refusedCancel = [{ kind: 'cancel' }, 'refused'] as const
  const read = (status: string) => [{ kind: 'read' }, { status, amount: '5' }] as const

  t.ok(inTurn(intent, scan, confirm('a'), read('authorized'), read('captured')))
  t.ok(inTurn(intent, scan, confirm('a'), read('failed'), confirm('a')), 'a replay')
  t.ok(atOnce(intent, scan, confirm('a'), refusedConfirm('b'), refusedCancel))
  t.ok(inTurn(intent, scan, cancel, read('cancelled'), refusedConfirm('a')))
  t.ok(inTurn(intent, scan, confirm('a'), cancel, read('cancelled')), 'not submitted yet')
  t.notOk(inTurn(intent, scan, confirm('a'), confirm('b')), 'two confirms')
  t.notOk(inTurn(intent, scan, confirm('a', '6')), 'another amount')
  t.notOk(inTurn(intent, scan, cancel, confirm('a')), 'a confirm after a cancel')
  t.notOk(inTurn(intent, scan, confirm('a'), read('captured'), cancel), 'paid, undone')
  t.notOk(
    inTurn(intent, scan, confirm('a'), read('captured'), read('authorized')),
    'a state that goes back',
  )
  t.notOk(inTurn(intent, scan, read('captured')), 'paid without a confirm')
  t.notOk(inTurn(intent, confirm('a')), 'a confirm without a scan')
  t.notOk(inTurn(intent, scan, refusedConfirm('a')), 'a refusal without cause')
})
