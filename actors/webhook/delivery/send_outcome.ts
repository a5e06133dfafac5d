/** The outcome of one call of an endpoint. */
export type SendOutcome = {
  readonly kind: 'delivered' | 'permanent' | 'gone' | 'retry'
  /** HTTP status. Null if no response came. */
  readonly status: number | null
  /** `http_503`, `timeout`, a network error code…; for logs and the table of attempts. */
  readonly reason: string
  readonly latencyMs: number
  /** The first bytes of the response body, as text. */
  readonly reply: string
}
