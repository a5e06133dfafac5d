/**
 * The operator and the reason that are recorded with every change.
 *
 * - Production requires `--as` and `--reason`. On a sandbox the system user is the default.
 * - A decision on a payment always needs a reason.
 */
import { userInfo } from 'node:os'
import { CommandFault, type Context } from './command.js'

/** Options of every command that changes something. */
export const CHANGE = ['as', 'reason'] as const

export interface Actor {
  readonly name: string
  readonly reason: string
}

export function actorOf(
  { flags, servesProduction }: Pick<Context, 'flags' | 'servesProduction'>,
  environment: string,
): Actor {
  if (servesProduction || environment === 'production') {
    if (flags.as === undefined || flags.reason === undefined) {
      throw new CommandFault('A change of production needs --as NAME and --reason TEXT.')
    }
  }
  return { name: flags.as ?? userInfo().username, reason: flags.reason ?? 'work on the sandbox' }
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
