/** The authenticated caller of a request. */
import type { SignedBy } from '../../protos/types/causeway/internal/v1/SignedBy.js'
import type { TenantId } from '../../src/base/ids.js'

export interface Caller {
  readonly tenant: TenantId
  /** The nonce to consume; null on token requests. */
  readonly signedBy: SignedBy | null
  /** The session token's id; empty on other requests. */
  readonly sessionJti: string
  /** The subject of the receipt token; empty on other requests. */
  readonly receiptSubject: string
  /** The rate bucket: the key, or the tenant for all of its apps together. */
  readonly rateKey: string
  /** 0 means the default. */
  readonly ratePerSecond: number
}
