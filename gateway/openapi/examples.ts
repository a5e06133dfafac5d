/** Recorded requests and answers (examples.json), which `make examples` takes from a real stack. */

export interface RecordedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** As sent, signature included. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface RecordedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface RecordedCall {
  /** Distinguishes the examples of one operation; the first one is the operation's main example. */
  readonly name: string
  readonly request: RecordedRequest
  readonly answer: RecordedAnswer
}

export interface RecordedWebhook {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Examples {
  /** The secret that the recorded signatures are made with; it is not in use. */
  readonly signing_secret: string
  /** By operationId. */
  readonly operations: Readonly<Record<string, readonly RecordedCall[]>>
  /** By event type. */
  readonly webhooks: Readonly<Record<string, RecordedWebhook>>
}
