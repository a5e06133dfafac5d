/**
 * The instructions that make the adapter under check behave in a certain way: what is paid,
 * refused, late. The defaults are those of the sandbox rail; the author of another adapter names
 * its own.
 *
 * - Each behavior is a change of `paid`, member by member.
 * - `null` says that the adapter has no such behavior: its lines are skipped.
 */
import { readFileSync } from 'node:fs'
import { Ajv, type JSONSchemaType } from 'ajv'
import type { Instruction } from '../../../protos/types/causeway/rail/v1/Instruction.js'

const BEHAVIORS = ['paid', 'refused', 'late', 'pending', 'returned', 'recall_refused'] as const
export type BehaviorName = (typeof BEHAVIORS)[number]

const DESTINATION_MEMBERS = [
  ...['scheme', 'country', 'bank_code', 'account', 'account_type'],
  ...['reference1', 'reference2', 'name'],
] as const
const CONTENT_MEMBERS = ['kind', 'amount', 'currency', 'reference', 'hint', 'environment'] as const

type Destination = Partial<Record<(typeof DESTINATION_MEMBERS)[number], string>>
interface Content extends Partial<Record<(typeof CONTENT_MEMBERS)[number], string>> {
  readonly destination?: Destination
}

export type Behaviors = Readonly<Record<BehaviorName, Content | null>>

/** What an order needs beside its id and its shard. */
export type PaidContent = Required<Content> & Pick<Instruction, 'not_after'>

/** See the table in sandbox/bank.ts. */
const OF_SANDBOX: Behaviors = {
  paid: {
    kind: 'payout',
    amount: '12345',
    currency: 'THB',
    reference: 'rail-check',
    hint: '',
    environment: 'sandbox',
    destination: {
      scheme: 'bank_account',
      country: 'TH',
      bank_code: '004',
      account: '1234567890',
      name: 'RAIL CHECK',
    },
  },
  refused: { destination: { account: '9990000001' } },
  late: { kind: 'qr_payment', hint: 'rail-check+slow' },
  pending: { destination: { account: '9990000008' } },
  returned: { destination: { account: '9990000005' } },
  recall_refused: { kind: 'qr_payment', destination: { account: '999000009' } },
}

const texts = (names: readonly string[]): Record<string, { type: 'string'; nullable: true }> =>
  Object.fromEntries(names.map((name) => [name, { type: 'string', nullable: true }]))

const CONTENT = {
  type: 'object',
  nullable: true,
  additionalProperties: false,
  properties: {
    ...texts(CONTENT_MEMBERS),
    destination: {
      type: 'object',
      nullable: true,
      additionalProperties: false,
      properties: texts(DESTINATION_MEMBERS),
    },
  },
}

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(BEHAVIORS.map((name) => [name, CONTENT])),
} as unknown as JSONSchemaType<Partial<Behaviors>>

export class BehaviorFileError extends Error {
  override name = 'BehaviorFileError'
}

/** @throws BehaviorFileError that names the file and the member */
export function readBehaviors(file: string | undefined): Behaviors {
  if (file === undefined) return OF_SANDBOX
  const given = parsed(file)
  const isValid = new Ajv({ allErrors: false }).compile(SCHEMA)
  if (!isValid(given)) {
    const [fault] = isValid.errors ?? []
    throw new BehaviorFileError(`${file}: ${fault?.instancePath ?? ''} ${fault?.message ?? ''}`)
  }
  if (given.paid === null) throw new BehaviorFileError(`${file}: /paid must not be null`)
  // A file that names `paid` replaces the sandbox's behaviors, whose accounts mean nothing to it.
  const none = Object.fromEntries(BEHAVIORS.map((name) => [name, null])) as Behaviors
  const paid = merged(OF_SANDBOX.paid ?? {}, given.paid ?? {})
  return { ...(given.paid === undefined ? OF_SANDBOX : none), ...given, paid }
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BehaviorFileError(`${file}: ${error instanceof Error ? error.message : 'not JSON'}`)
  }
}

const merged = (base: Content, change: Content): Content => ({
  ...base,
  ...change,
  destination: { ...base.destination, ...change.destination },
})

/** @returns null when the adapter has no such behavior */
export function contentOf(behaviors: Behaviors, name: BehaviorName): PaidContent | null {
  const change = behaviors[name]
  return change === null ? null : (merged(behaviors.paid ?? {}, change) as PaidContent)
}
