/** The type of a change that an operator makes in the console. */
import type { Notice } from '../session/sessions.js'
import type { Clients } from '../session/uplink.js'

export interface ActionContext {
  readonly clients: Clients
  /** The text of a field of the form. Empty if it has none. */
  field(name: string): string
}

/**
 * What is said of it on the next page.
 *
 * @throws Refused, or Error when the call fails; NotSent only before anything is changed
 */
export type Action = (context: ActionContext) => Promise<Notice>

/** The processor fills in the name, which is that of the token. */
export const actorOf = ({ field }: ActionContext) => ({ name: '', reason: field('reason') })

export const done = (text: string): Notice => ({ tone: 'good', text })
