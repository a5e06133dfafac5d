/**
 * A reason why the stack cannot start: one sentence with the fault and what to do about it.
 *
 * - Only the message is printed; any other error is a bug and prints its stack.
 */
export class StartupError extends Error {
  override name = 'StartupError'

  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
