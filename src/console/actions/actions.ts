/**
 * What an operator can change in the console: one call to the processor each, as in the CLI.
 *
 * - The actor's name is that of the token; the processor records it with the reason.
 * - A call that was not sent is made once more, to the shards as they are found then: its owner may
 *   have just gone. No other call is repeated.
 * - A change without an answer may have been made: its notice says so, and where that can be seen.
 */
import { NotSent, Refused } from '../../operations/calls/calls.js'
import { CommandFault } from '../../operations/calls/command_fault.js'
import { isPayment } from '../html/parts.js'
import type { Notice, Session } from '../session/sessions.js'
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

/** Undefined means that there is no such action. */
export const actionNamed = (name: string): Action | undefined => ACTIONS.get(name)

/** @throws Refused when the token is rejected */
export function outcomeOf(
  action: Action,
  { name, uplink }: Pick<Session, 'name' | 'uplink'>,
  field: ActionContext['field'],
): Promise<Notice> {
  const act = async (): Promise<Notice> => action({ clients: await uplink.clients(), field })
  const actOnceSent = (): Promise<Notice> =>
    act().catch((error: unknown) => {
      if (!(error instanceof NotSent)) throw error
      uplink.forgetShards()
      return act()
    })
  return noticeOf(field('reason'), actOnceSent, (why) => unknownOutcome(why, name, field('id')))
}

/** @param id of what was to be changed */
function unknownOutcome(why: string, operator: string, id: string): Notice {
  const payment = isPayment(id) ? [{ href: `/payments/${id}`, text: 'The payment' }] : []
  const log = `/actions?${new URLSearchParams({ by: operator }).toString()}`
  const unknown = 'It is unknown whether the change was made. Look before you repeat it:'
  return {
    tone: 'bad',
    text: `No answer: ${why}\n${unknown}`,
    links: [...payment, { href: log, text: 'Your actions' }],
  }
}

/**
 * @param unanswered what is said without an answer
 * @throws Refused when the token is rejected
 */
export async function noticeOf(
  reason: string,
  act: () => Promise<Notice>,
  unanswered: (why: string) => Notice,
): Promise<Notice> {
  if (reason === '') return { tone: 'bad', text: 'A change needs a reason.' }
  try {
    return await act()
  } catch (error) {
    if (error instanceof CommandFault) return { tone: 'bad', text: error.message }
    if (error instanceof NotSent) {
      return { tone: 'bad', text: `Nothing was changed, as nothing was sent: ${error.message}` }
    }
    if (!(error instanceof Refused)) {
      return unanswered(error instanceof Error ? error.message : String(error))
    }
    if (error.code === 'authentication_failed') throw error
    const isRequested = error.code === 'second_operator_required'
    return { tone: isRequested ? 'warn' : 'bad', text: error.message }
  }
}
