/**
 * Why a start is not possible: one sentence that says what is wrong and what to do about it.
 * Whoever catches it prints the message and nothing else; any other error is a bug and shows its
 * stack.
 */
export class StartupError extends Error {
  override name = 'StartupError'

  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What an unknown error says, in one line. */
export const sayOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
