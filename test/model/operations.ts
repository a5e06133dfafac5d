/**
 * Operations on intents with their arguments: the same value is run by the system and the model.
 */
import type { CorridorName } from './contract_rules.js'
import type { MerchantCode } from './merchant_codes.js'
import type { ModelIntent, ModelQuote } from './model.js'

/** The calling tenant: the owner of the intents or another one. */
export type Caller = 'owner' | 'other tenant'

export interface CreateOperation {
  readonly kind: 'create'
  readonly user: string
  readonly cents: number
  readonly corridor: CorridorName
  readonly verified: boolean
  readonly clean: boolean
  readonly key: string | null
}

export interface ScanOperation {
  readonly kind: 'scan'
  readonly by: Caller
  readonly intent: ModelIntent
  readonly jti: string
  /** Text: a code that no corridor accepts. */
  readonly code: MerchantCode | string
  readonly amount: string | null
  readonly acknowledged: boolean
}

export interface ConfirmOperation {
  readonly kind: 'confirm'
  readonly by: Caller
  readonly intent: ModelIntent
  readonly jti: string
  readonly key: string | null
  /** The quotes whose id and version the caller names. */
  readonly quoteId: ModelQuote | null
  readonly quoteVersion: number | null
}

export interface RemintOperation {
  readonly kind: 'remint'
  readonly by: Caller
  readonly intent: ModelIntent
  readonly user: string
  readonly verified: boolean
  readonly clean: boolean
}

export interface RefundOperation {
  readonly kind: 'refund'
  readonly by: Caller
  readonly intent: ModelIntent
  readonly key: string | null
}

/** Operations whose only argument is the intent. */
export interface SimpleOperation {
  readonly kind: 'get' | 'cancel' | 'mintReceipt'
  readonly by: Caller
  readonly intent: ModelIntent
}

export interface ReceiptOperation {
  readonly kind: 'receipt'
  readonly by: Caller
  readonly intent: ModelIntent
  readonly user: string
}

export interface TimerOperation {
  readonly kind: 'timer'
  readonly intent: ModelIntent
}

export interface RateOperation {
  readonly kind: 'rate'
  readonly currency: 'THB' | 'VND'
  readonly rate: string
}

export type ReportStatus =
  'accepted' | 'executed' | 'refused' | 'returned' | 'not_found' | 'recall_refused'

export interface ReportOperation {
  readonly kind: 'report'
  /** Null means that the instruction is unknown. */
  readonly intent: ModelIntent | null
  readonly status: ReportStatus
  readonly execution: Execution
  readonly refusal: string
  readonly reportId: string | null
}

/** The content of the rail's report. */
export interface Execution {
  readonly transactionId: string
  readonly amount: bigint
  readonly currency: string
  readonly account: string
}

export type ModelOperation =
  | CreateOperation
  | ScanOperation
  | ConfirmOperation
  | RemintOperation
  | RefundOperation
  | SimpleOperation
  | ReceiptOperation
  | TimerOperation
  | RateOperation
  | ReportOperation
