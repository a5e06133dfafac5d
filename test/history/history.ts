/**
 * What concurrent clients asked one object and what they were told, with the times of both.
 *
 * - An operation without an answer may have taken effect at any time after its call, or never.
 * - Times come from one clock: clients of one history run in one process.
 */
export interface Operation<Input, Output> {
  readonly input: Input
  /** Undefined if no answer came. */
  readonly output: Output | undefined
  readonly calledAt: number
  /** Infinity if no answer came. */
  readonly returnedAt: number
}

export interface Recorder<Input, Output> {
  readonly operations: readonly Operation<Input, Output>[]
  /**
   * Makes a call and records it.
   *
   * @param call gives undefined, or throws, if the outcome is not known
   */
  record(input: Input, call: () => Promise<Output | undefined>): Promise<Output | undefined>
}

export function createRecorder<Input, Output>(
  now: () => number = () => performance.now(),
): Recorder<Input, Output> {
  const operations: Operation<Input, Output>[] = []
  return {
    operations,
    record: async (input, call) => {
      const calledAt = now()
      const output = await call().catch(() => undefined)
      const returnedAt = output === undefined ? Number.POSITIVE_INFINITY : now()
      operations.push({ input, output, calledAt, returnedAt })
      return output
    },
  }
}
