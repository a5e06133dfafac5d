/**
 * Client of the Ledger service: the entries of a period and balances at a moment, of the only
 * books or of every shard.
 */
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import type { LedgerEntry__Output as LedgerEntry } from '../../protos/types/causeway/operator/v1/LedgerEntry.js'
import type { LedgerPage__Output as LedgerPage } from '../../protos/types/causeway/operator/v1/LedgerPage.js'
import type { TrialBalanceLine__Output as BalanceLine } from '../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import type { ProtoGrpcType } from '../../protos/types/ledger.js'
import { bearer } from '../base/bearer.js'
import type { Instant } from '../base/clock.js'
import { CLEARTEXT } from '../base/grpc_tls.js'
import { contracts } from '../base/protos.js'
import type { Period } from '../reconciliation/movement.js'
import type { Actor } from './actor.js'
import { faultOf, type OperatorAccess } from './calls.js'
import type { NamedTenant } from './tenant.js'

export type { BalanceLine, LedgerEntry, LedgerPage }

/** The ledger of one processor. */
export interface LedgerSource {
  /** Empty: the only books. */
  readonly shard: string
  /** Pages of entries, then of the balances at the end. @throws Refused, Error */
  entries(actor: Actor, period: Period, tenant?: NamedTenant): AsyncGenerator<LedgerPage>
  /** @throws Refused, Error */
  balances(at: Instant): AsyncGenerator<LedgerPage>
}

/** @throws Error while a shard is missing: sums without it would be wrong */
export async function withLedgers<T>(
  access: OperatorAccess,
  use: (sources: readonly LedgerSource[]) => Promise<T>,
): Promise<T> {
  const { shards, among } = access
  if (shards !== undefined && shards.missing.length > 0) {
    throw new Error(`This needs every shard: ${shards.missing.join(', ')} did not answer.`)
  }
  const named = [...(among?.reached ?? [])].find(([, address]) => address === access.address)
  const places = shards === undefined ? [[named?.[0] ?? '', access.address]] : shards.reached
  const opened = [...places].map(([shard = '', address = '']) =>
    openLedger(shard, { ...access, address }),
  )
  try {
    return await use(opened)
  } finally {
    for (const { close } of opened) close()
  }
}

function openLedger(
  shard: string,
  { address, token, tls = CLEARTEXT }: OperatorAccess,
): LedgerSource & { close(): void } {
  const { Ledger } = contracts<ProtoGrpcType>().causeway.operator.v1
  const client = new Ledger(address, tls.channelCredentials(address), tls.channelOptions(address))
  return {
    shard,
    entries: (actor, { from, to }, tenant) =>
      pagesOf(
        client.Entries({ actor, from, to, ...(tenant && { tenant }) }, bearer(token())),
        address,
      ),
    balances: (at) => pagesOf(client.Balances({ at }, bearer(token())), address),
    close: () => client.close(),
  }
}

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
