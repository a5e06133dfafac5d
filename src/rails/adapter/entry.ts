/**
 * An instruction as an adapter stores it, and the report of its state.
 *
 * Does not own: how entries change (entry_changes, rules), storage (journal).
 */
import { hash } from 'node:crypto'
import type { Instant } from '../../base/clock.js'
import type { EffectId, Environment } from '../../base/ids.js'
import type {
  Execution,
  Instruction,
  Purpose,
  RailReport,
  RailRefusal,
  Unfinished,
} from '../rail.js'
import { assert } from '../../base/assert.js'

export interface Entry {
  readonly id: EffectId
  /** Null in an instruction of an earlier version, which counts as the sandbox. */
  readonly environment: Environment | null
  /** The shard that sent it. Null if the sender has the only books or is an earlier version. */
  readonly shard: string | null
  readonly purpose: Purpose
  readonly amount: bigint
  readonly currency: string
  readonly account: string
  /** The code of the payee's bank. Empty means a proxy, null a row of an earlier version. */
  readonly bankCode: string | null
  /** As the journal has it. Null if it is not stored yet. */
  readonly sealedAccount: string | null
  /** See `statementReference`. Null in a row of an earlier version. */
  readonly reference: string | null
  /** See `contentOf`. */
  readonly content: string
  readonly receivedAt: Instant
  /** When money moved out and when it came back. Null if it did not. */
  readonly executedAt: Instant | null
  readonly returnedAt: Instant | null
  readonly state: 'pending' | 'executed' | 'refused' | 'returned'
  /** While pending: the reason it will be refused with. */
  readonly refusal: RailRefusal | null
  readonly transactionId: string | null
  /** How often money moved out. */
  readonly executions: number
  readonly due: Due | null
  /** The report of the current state, until it is acknowledged. */
  readonly reportId: string | null
  /** For calls to a bank elsewhere. Null if the bank is in this process and needs no call. */
  readonly instruction: Instruction | null
}

/** The next scheduled step. */
export interface Due {
  readonly at: Instant
  readonly step: 'execute' | 'refuse' | 'return'
}

/** Digest of amount, reference and payee, without `notAfter`, `hint`, `environment` and `shard`. */
export function contentOf(instruction: Instruction): string {
  const { purpose, amount, currency, destination, reference } = instruction
  const paid = [purpose, amount.toString(), currency, reference]
  const { scheme, country, bankCode, account, accountType } = destination
  const { reference1, reference2, name } = destination
  const payee = [scheme, country, bankCode, account, accountType, reference1, reference2, name]
  return hash('sha256', JSON.stringify([paid, payee]), 'base64url')
}

/** The entry's state, as a report under `reportId` or as an answer (null). */
export function reportOf(entry: Entry, reportId: string | null): RailReport {
  const report = reportOfState(entry, reportId)
  if (entry.shard !== null) report.shard = entry.shard
  return report
}

function reportOfState(entry: Entry, reportId: string | null): Unfinished<RailReport> {
  const { id, state: status, refusal, transactionId, amount, currency } = entry
  const environment = entry.environment ?? 'sandbox'
  switch (status) {
    case 'pending':
      return { id, reportId, environment, status: 'accepted' }
    case 'refused':
      assert(refusal !== null, 'a refused instruction has a reason')
      return { id, reportId, environment, status, refusal }
    case 'executed':
    case 'returned': {
      assert(transactionId !== null, 'an executed instruction has a transaction id')
      const report: Unfinished<Extract<RailReport, Execution>> = {
        id,
        reportId,
        environment,
        status,
        transactionId,
        amount,
        currency,
        destinationAccount: entry.account,
      }
      if (entry.bankCode) report.destinationBank = entry.bankCode
      return report
    }
  }
}
