/**
 * Client of the Ledger service: the entries of a period and balances at a moment, of the only
 * books or of every shard.
 */
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import type { LedgerEntry__Output as LedgerEntry } from '../../../protos/types/causeway/operator/v1/LedgerEntry.js'
import type { LedgerPage__Output as LedgerPage } from '../../../protos/types/causeway/operator/v1/LedgerPage.js'
import type { TrialBalanceLine__Output as BalanceLine } from '../../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import type { ProtoGrpcType } from '../../../protos/types/ledger.js'
import type { Instant } from '../../base/clock.js'
import { CLEARTEXT } from '../../grpc/tls.js'
import { contracts } from '../../grpc/contracts.js'
import type { Period } from '../../reconciliation/movement.js'
import type { Actor } from '../cli/actor.js'
import { credentialsOf, faultOf, Refused, type OperatorAccess } from '../calls/calls.js'
import type { NamedTenant } from '../cli/tenant.js'

export type { BalanceLine, LedgerEntry, LedgerPage }

/** The ledger of one processor. */
export interface LedgerSource {
  /** Empty means the only books. */
  readonly shard: string
  /** Opening balances, then entries, then balances at the end, in pages. @throws Refused, Error */
  entries(actor: Actor, period: Period, tenant?: NamedTenant): AsyncGenerator<LedgerPage>
  /** Without balances, which cost the entries since then. @throws Refused, Error */
  entriesOnly(actor: Actor, period: Period): AsyncGenerator<LedgerPage>
  /** @throws Refused, Error */
  balances(at: Instant): AsyncGenerator<LedgerPage>
}

/** @throws Error while a shard is missing: sums without it would be wrong */
export function withLedgers<T>(
  access: OperatorAccess,
  use: (sources: readonly LedgerSource[]) => Promise<T>,
): Promise<T> {
  const { missing = [] } = access.shards ?? {}
  if (missing.length > 0) {
    throw new Error(`This needs every shard: ${missing.join(', ')} did not answer.`)
  }
  return withReachedLedgers(access, use)
}

/** The same without the shards that do not answer. @param deadline of all calls; default: none */
export async function withReachedLedgers<T>(
  access: OperatorAccess,
  use: (sources: readonly LedgerSource[]) => Promise<T>,
  deadline?: Instant,
): Promise<T> {
  const { shards, among } = access
  const named = [...(among?.reached ?? [])].find(([, address]) => address === access.address)
  const owners = shards === undefined ? [[named?.[0] ?? '', access.address]] : shards.reached
  const opened = [...owners].map(([shard = '', address = '']) =>
    openLedger(shard, { ...access, address }, deadline),
  )
  try {
    return await use(opened)
  } finally {
    for (const { close } of opened) close()
  }
}

function openLedger(
  shard: string,
  access: OperatorAccess,
  deadline: Instant | undefined,
): LedgerSource & { close(): void } {
  const { address, tls = CLEARTEXT } = access
  const { Ledger } = contracts<ProtoGrpcType>().causeway.operator.v1
  const client = new Ledger(address, tls.channelCredentials(address), tls.channelOptions(address))
  const options = deadline === undefined ? {} : { deadline }
  return {
    shard,
    entries: (actor, { from, to }, tenant) => {
      const request = { actor, from, to, ...(tenant && { tenant }) }
      return pagesOf(client.Entries(request, credentialsOf(access), options), address)
    },
    entriesOnly: (actor, { from, to }) => {
      const request = { actor, from, to, without_balances: true }
      return pagesOf(client.Entries(request, credentialsOf(access), options), address)
    },
    balances: (at) => pagesOf(client.Balances({ at }, credentialsOf(access), options), address),
    close: () => client.close(),
  }
}

/** The ledger of the shard that has the partner. @throws Refused when none of them has it */
export async function* entriesOfTenant(
  sources: readonly LedgerSource[],
  ...given: Required<Parameters<LedgerSource['entries']>>
): AsyncGenerator<LedgerPage> {
  for (const [i, source] of sources.entries()) {
    try {
      yield* source.entries(...given)
      return
    } catch (error) {
      const isLast = i === sources.length - 1
      if (isLast || !(error instanceof Refused) || !OF_OTHER_SHARD.includes(error.code)) throw error
    }
  }
}

/** A processor without cluster finds the tenant of another one invalid. */
const OF_OTHER_SHARD = ['not_here', 'invalid_request']

async function* pagesOf(
  stream: ClientReadableStream<LedgerPage>,
  address: string,
): AsyncGenerator<LedgerPage> {
  try {
    for await (const page of stream as AsyncIterable<LedgerPage>) yield page
  } catch (error) {
    throw faultOf(error as ServiceError, address)
  } finally {
    stream.cancel()
  }
}
