/**
 * Who acts, and why: every change keeps both.
 *
 * - Where real money may be touched, both are given by hand. On a sandbox the system's user
 *   stands in.
 * - A decision about somebody's payout is never without a reason.
 */
import { userInfo } from 'node:os'
import { CommandFault, type Context } from './command.js'

/** What every change takes. */
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

/** For decisions on a payout or a discrepancy, whichever environment it is of. */
export function deciderOf(context: Pick<Context, 'flags' | 'servesProduction'>): Actor {
  if (context.flags.reason === undefined) throw new CommandFault('A decision needs --reason TEXT.')
  return actorOf(context, 'sandbox')
}

/** Where it can be looked up later, e.g. a line of the bank's statement. */
export function evidenceOf({ flags }: Pick<Context, 'flags'>): string {
  if (flags.evidence === undefined) throw new CommandFault('It needs --evidence TEXT.')
  return flags.evidence
}
