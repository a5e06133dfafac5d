/**
 * The operator's name and reason, which are recorded with every change.
 *
 * - Production requires `--reason`. A decision on a payment always needs one.
 * - The token determines the name. The processor rejects an `--as NAME` that differs from it.
 */
import { isVisibleText, VISIBLE_TEXT_RULE } from '../../base/visible_text.js'
import { CommandFault, type Context } from './command.js'
import type { Option } from './options.js'

/** Options of every command that changes something. */
export const CHANGE = ['as', 'reason'] as const

export interface Actor {
  /** Empty means the name of the token. */
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
  return { name: flags.as ?? '', reason: visible('reason', flags.reason ?? 'work on the sandbox') }
}

/** For decisions on a payment or a discrepancy, in either environment. */
export function deciderOf(context: Pick<Context, 'flags' | 'servesProduction'>): Actor {
  if (context.flags.reason === undefined) throw new CommandFault('A decision needs --reason TEXT.')
  return actorOf(context, 'sandbox')
}

/** Where to verify it later, e.g. a line of the bank statement. */
export function evidenceOf({ flags }: Pick<Context, 'flags'>): string {
  if (flags.evidence === undefined) throw new CommandFault('This needs --evidence TEXT.')
  return visible('evidence', flags.evidence)
}

/** The processor refuses it too, without the name of the option. */
function visible(option: Option, text: string): string {
  if (text.trim() === '') throw new CommandFault(`--${option} is empty.`)
  if (isVisibleText(text)) return text
  throw new CommandFault(`--${option} ${VISIBLE_TEXT_RULE}.`)
}
