/** The bank of the guide's smallest adapter: payments over HTTP, messages to the adapter. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { Behaviors } from '../../src/rails/check/behaviors.js'
import { listen } from '../support/listen.js'

interface Payment {
  readonly id: string
  readonly status: 'received' | 'paid' | 'rejected' | 'returned'
  readonly reason: string
  readonly transaction: string
  readonly amount: string
  readonly currency: string
  readonly account: string
}

const LATE_MS = 1_500
const RETURNED_AFTER_MS = 100
const SENT_AGAIN_AFTER_MS = 100

/** How this bank treats an account. */
export const EXAMPLE_BEHAVIORS: Behaviors = {
  paid: {
    ...{ kind: 'payout', amount: '12345', currency: 'THB', reference: 'rail-check' },
    ...{ hint: '', environment: 'sandbox' },
    destination: { scheme: 'bank_account', country: 'TH', bank_code: '004', account: '1' },
  },
  refused: { destination: { account: 'closed' } },
  late: { destination: { account: 'late' } },
  pending: { destination: { account: 'stuck' } },
  returned: { destination: { account: 'returns' } },
  recall_refused: { destination: { account: 'keeps' } },
}

/** @param messagesTo where it posts what changes by itself */
export async function anExampleBank(t: Test, messagesTo: string): Promise<{ url: string }> {
  const payments = new Map<string, Payment>()
  const timers = new Set<NodeJS.Timeout>()

  const later = (ms: number, act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
    }, ms)
    timers.add(timer)
  }
  const post = (payment: Payment): void => {
    const again = (): void => later(SENT_AGAIN_AFTER_MS, () => post(payment))
    fetch(messagesTo, { method: 'POST', body: JSON.stringify(payment) }).then(
      ({ ok }) => (ok ? undefined : again()),
      again,
    )
  }
  const change = (id: string, status: Payment['status']): void => {
    const payment = { ...payments.get(id)!, status }
    payments.set(id, payment)
    post(payment)
  }
  const submit = (id: string, given: Pick<Payment, 'amount' | 'currency' | 'account'>): Payment => {
    const { account } = given
    const isLater = account === 'late' || account === 'stuck'
    const status = account === 'closed' ? 'rejected' : isLater ? 'received' : 'paid'
    const payment = { ...given, id, status, reason: account, transaction: `t_${id}` } as const
    payments.set(id, payment)
    if (account === 'late') later(LATE_MS, () => change(id, 'paid'))
    if (account === 'returns') later(RETURNED_AFTER_MS, () => change(id, 'returned'))
    return payment
  }
  const recall = (payment: Payment): Payment | 409 => {
    if (payment.account === 'keeps') return 409
    const returned = { ...payment, status: 'returned' } as const
    payments.set(payment.id, returned)
    return returned
  }
  const answerTo = (method: string, path: string, body: string): Payment | 404 | 409 => {
    const id = path.split('/')[2] ?? ''
    const known = payments.get(id)
    if (method === 'PUT') return known ?? submit(id, JSON.parse(body) as Payment)
    if (known === undefined) return 404
    return method === 'POST' ? recall(known) : known
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const answer = answerTo(request.method ?? '', request.url ?? '', body)
      if (typeof answer === 'number') return response.writeHead(answer).end()
      return response.end(JSON.stringify(answer))
    })
  })
  t.teardown(() => timers.forEach((timer) => clearTimeout(timer)))
  return { url: `http://127.0.0.1:${await listen(t, server)}` }
}
