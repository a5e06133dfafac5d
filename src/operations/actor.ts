/**
 * The reason that is recorded with every change, beside the name that the operator's token proves.
 *
 * - Production requires `--reason`. A decision on a payment always needs one.
 * - `--as NAME` claims no other name: the processor rejects one that differs from the proven name.
 */
import { CommandFault, type Context } from './command.js'

/** Options of every command that changes something. */
export const CHANGE = ['as', 'reason'] as const

export interface Actor {
  /** Empty: the proven name. */
  readonly name: string
  readonly reason: string
}

export function actorOf(
  { flags, servesProduction }: Pick<Context, 'flags' | 'servesProduction'>,
  environment: string,
): Actor {
  if ((servesProduction || environment === 'production') && flags.reason === undefined) {
    throw new CommandFault('A change of production needs --reason TEXT.')
  }
  return { name: flags.as ?? '', reason: flags.reason ?? 'work on the sandbox' }
}

/** For decisions on a payment or a discrepancy, in either environment. */
export function deciderOf(context: Pick<Context, 'flags' | 'servesProduction'>): Actor {
  if (context.flags.reason === undefined) throw new CommandFault('A decision needs --reason TEXT.')
  return actorOf(context, 'sandbox')
}

/** Where to verify it later, e.g. a line of the bank statement. */
export function evidenceOf({ flags }: Pick<Context, 'flags'>): string {
  if (flags.evidence === undefined) throw new CommandFault('This needs --evidence TEXT.')
  return flags.evidence
}
