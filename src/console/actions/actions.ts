/**
 * What an operator can change in the console: one call to the processor each, as in the CLI.
 *
 * - The actor's name is that of the token; the processor records it with the reason.
 * - A change without an answer may have been made: its notice says so.
 */
import { Refused } from '../../operations/calls/calls.js'
import { CommandFault } from '../../operations/calls/command_fault.js'
import type { Notice } from '../session/sessions.js'
import type { Action, ActionContext } from './action.js'
import { PARTNER_ACTIONS } from './partner_actions.js'
import { PAYMENT_ACTIONS } from './payment_actions.js'
import { SHARD_ACTIONS } from './shard_actions.js'
import { SUBMISSION_ACTIONS } from './submission_actions.js'
import { WEBHOOK_ACTIONS } from './webhook_actions.js'

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  Object.entries({
    ...{ ...PAYMENT_ACTIONS, ...PARTNER_ACTIONS, ...WEBHOOK_ACTIONS },
    ...{ ...SUBMISSION_ACTIONS, ...SHARD_ACTIONS },
  }),
)

export const ACTION_NAMES: readonly string[] = [...ACTIONS.keys()]

/** Undefined: there is no such action. */
export const actionNamed = (name: string): Action | undefined => ACTIONS.get(name)

export const outcomeOf = (action: Action, context: ActionContext): Promise<Notice> =>
  noticeOf(context.field('reason'), () => action(context))

/** @throws Refused when the token is rejected */
export async function noticeOf(reason: string, act: () => Promise<Notice>): Promise<Notice> {
  if (reason === '') return { tone: 'bad', text: 'A change needs a reason.' }
  try {
    return await act()
  } catch (error) {
    if (error instanceof CommandFault) return { tone: 'bad', text: error.message }
    if (!(error instanceof Refused)) {
      const why = error instanceof Error ? error.message : String(error)
      return {
        tone: 'bad',
        text: `No answer: ${why}. Look whether it was made before you repeat it.`,
      }
    }
    if (error.code === 'authentication_failed') throw error
    const isRequested = error.code === 'second_operator_required'
    return { tone: isRequested ? 'warn' : 'bad', text: error.message }
  }
}
