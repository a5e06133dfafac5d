/** The types of pages, and what a page gets to make its content. */
import type { Instant } from '../../base/clock.js'
import { missingShardsIn } from '../../operations/calls/shards.js'
import type { FiguresState } from '../figures/figures.js'
import type { FormContext } from '../html/action_forms.js'
import { failure } from '../html/parts.js'
import type { Html } from '../html/html.js'
import type { Session } from './sessions.js'
import { isTokenRejected, type Clients } from './uplink.js'

export interface PageContext {
  readonly session: Session
  readonly clients: Clients
  readonly now: Instant
  readonly figures: FiguresState
  /** The folder of this machine's logs, which may not exist. */
  readonly logs: string
  /** The id in the path. Empty means that the page has none. */
  readonly id: string
  readonly query: URLSearchParams
}

export interface Content {
  readonly title: string
  /** Made again while the page is open; it has no forms. */
  readonly live?: Html
  readonly body?: Html
  /** Default 200. */
  readonly status?: 200 | 404
  /** Another page is shown instead. */
  readonly redirect?: string
}

export interface ConsolePage {
  /** `/payments/:id` */
  readonly path: string
  render(context: PageContext): Promise<Content>
}

/** What the forms on a page need. */
export const formContext = ({ session }: PageContext, back: string): FormContext => ({
  formToken: session.formToken,
  roles: session.roles,
  back,
})

/** The shards and webhook pools that an answer lacks. */
export const missingIn = (answer: object): readonly string[] => [
  ...missingShardsIn(answer),
  ...((answer as { readonly missing_pools?: readonly number[] }).missing_pools ?? []).map(
    (pool) => `webhook pool ${pool}`,
  ),
]

/**
 * A part of a page from one call: without its answer the rest of the page is still shown.
 *
 * @throws Refused when the token is rejected
 */
export async function part<T>(
  what: string,
  call: Promise<T>,
  content: (answer: T) => Html,
): Promise<Html> {
  let answer: T
  try {
    answer = await call
  } catch (error) {
    if (isTokenRejected(error)) throw error
    return failure(what, error)
  }
  return content(answer)
}

/** The cursor of a list, as the page's address has it. */
export const cursorOf = ({ query }: PageContext): { readonly cursor?: string } => {
  const cursor = query.get('cursor')
  return cursor === null || cursor === '' ? {} : { cursor }
}
