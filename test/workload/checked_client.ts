/** What the clients of a run have in common: they call every gateway and note what contradicts. */
export interface CheckedClient {
  /** Contradictions that it saw, one per line. */
  readonly violations: readonly string[]
  /** What it checked so far, as a phrase. */
  checked(): string
  /** Resolves when its calls in progress have ended. */
  stop(): Promise<void>
}
