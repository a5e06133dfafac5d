/**
 * Who acts, and why: every change keeps both.
 *
 * W1. Where real money may be touched, both are given by hand. On a sandbox the system's user
 *     stands in.
 */
import { userInfo } from 'node:os'
import { CommandFault, type Context } from './command.js'

export function actorOf(
  { flags, servesProduction }: Pick<Context, 'flags' | 'servesProduction'>,
  environment: string,
): { name: string; reason: string } {
  if (servesProduction || environment === 'production') {
    if (flags.as === undefined || flags.reason === undefined) {
      throw new CommandFault('A change of production needs --as NAME and --reason TEXT.')
    }
  }
  return { name: flags.as ?? userInfo().username, reason: flags.reason ?? 'work on the sandbox' }
}
