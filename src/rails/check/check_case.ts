/** A line of the kit: a rule of the contract and how it is checked. */
import type { CheckContext } from './context.js'

export interface CheckCase {
  readonly name: string
  /** Verbatim of protos/rail.proto or src/rails/README.md. */
  readonly sentence: string
  /** It restarts the adapter: skipped when the kit cannot. */
  readonly restarts?: true
  /** Resolves when the rule holds. @throws Violation, Skipped */
  run(check: CheckContext): Promise<void>
}
