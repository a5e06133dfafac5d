/**
 * The audit shares no rule with the processor, so it states some facts a second time: they are the
 * same facts.
 */
import t from 'tap'
import { LOCAL_MONEY } from '../../src/audit/checks/amounts.js'
import { PARTNERS_OWN } from '../../src/audit/checks/stored_secrets.js'
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { CORRIDORS } from '../../src/qr/corridor.js'

t.test('every corridor has its currency', async (t) => {
  const facts = Object.entries(CORRIDORS).map(([name, { currencyAlpha, exponent }]) => [
    name,
    [currencyAlpha, 10n ** BigInt(exponent)],
  ])
  t.same(LOCAL_MONEY, Object.fromEntries(facts))
})

/** Ids of ours, which are no free text. */
const OURS = ['beneficiary_id']
/** Members of a context that have another name than those of the API. */
const STORED: Readonly<Record<string, string>> = { partner_user_id: 'userId' }

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

t.test('a text that a partner chooses may equal an account number', async (t) => {
  for (const operation of ['create_intent', 'create_payout'] satisfies OperationName[]) {
    const { content } = OPERATIONS[operation]
    if (content.in !== 'body') throw new Error('a body has a schema')
    const { properties } = content.schema as {
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
    const isFree = ({ type, format, pattern }: Readonly<Record<string, unknown>>): boolean =>
      type === 'string' && format === undefined && pattern === undefined
    const free = Object.entries(properties).flatMap(([name, schema]) =>
      isFree(schema) && !OURS.includes(name) ? [name] : [],
    )
    t.ok(free.length > 0)
    for (const name of free) {
      t.ok(PARTNERS_OWN.includes(name), `${operation}: ${name} of an event`)
      const stored = STORED[name] ?? camelCase(name)
      t.ok(PARTNERS_OWN.includes(stored), `${operation}: ${stored} of a context`)
    }
  }
})
