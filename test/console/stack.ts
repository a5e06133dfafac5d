/** A stack with its console, for tests: signing in, requests without a browser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { request, type IncomingHttpHeaders } from 'node:http'
import { request as requestTls } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { eventually } from '../support/eventually.js'
import type { Pair } from '../support/certificates.js'
import { startStack, type RunningStack } from '../support/stack.js'

/** Every action, and the role that it needs. */
export const ROLE_OF: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['suspend-partner', 'resume-partner', 'issue-key', 'revoke-key', 'inquire', 'redrive'],
      ...['enable-endpoint', 'disable-endpoint', 'pause-submissions', 'resume-submissions'],
    ].map((action) => [action, 'operate']),
  ),
  ...Object.fromEntries(
    [
      ...['payout', 'intent', 'request'].flatMap((kind) => [`approve-${kind}`, `reject-${kind}`]),
      ...['payout', 'intent'].flatMap((kind) => [`resolve-${kind}`, `reverse-${kind}`]),
      ...['match-orphan', 'dismiss-orphan', 'resolve-discrepancy', 'revoke-caller', 'move-shard'],
    ].map((action) => [action, 'decide']),
  ),
}

export interface ConsoleStack extends RunningStack {
  readonly url: string
  /** The token of the first operator, who has all roles. */
  readonly token: string
}

export async function startConsoleStack(
  t: Test,
  more: Readonly<Record<string, string>> = {},
): Promise<ConsoleStack> {
  const settings = { CONSOLE: 'on', RAIL_DELAY_MS: '50', ...more }
  const stack = await startStack({ t, settings })
  const url = stack.sandbox.console_url ?? ''
  await eventually('the console serves', () => isServing(url))
  const token = readFileSync(join(stack.dataDir, FILES.operatorToken), 'utf8').trim()
  return { ...stack, url, token }
}

export const isServing = (url: string): Promise<boolean> =>
  requestPage(`${url}/healthz`).then(
    ({ status }) => status === 200,
    () => false,
  )

export interface PageAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface PageRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  /** The client certificate of the connection. */
  readonly shows?: Pair | undefined
}

/**
 * A request as it is given, on a connection of its own: no cookie, no redirect and no origin is
 * added.
 */
export function requestPage(url: string, given: PageRequest = {}): Promise<PageAnswer> {
  const { method = 'GET', headers = {}, form, shows } = given
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const send = url.startsWith('https:') ? requestTls : request
  const options = {
    ...{ method, headers: { ...type, ...headers }, agent: false },
    // A certificate of the test's own CA, which Node does not know.
    rejectUnauthorized: false,
    ...(shows === undefined ? {} : { cert: shows.certificate, key: shows.key }),
  }
  return new Promise((resolve, reject) => {
    const sent = send(url, options, (response) => {
      text(response).then(
        (body) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body }),
        reject,
      )
    })
    sent.once('error', reject)
    sent.end(form === undefined ? undefined : new URLSearchParams(form).toString())
  })
}

/** A page as a session sees it. */
export const readPage = (url: string, cookie: string): Promise<PageAnswer> =>
  requestPage(url, { headers: { cookie } })

/** @returns the cookie of the session */
export async function signIn({ url, token }: Pick<ConsoleStack, 'url' | 'token'>): Promise<string> {
  const answer = await requestPage(`${url}/sign-in`, {
    ...{ method: 'POST', headers: { origin: url }, form: { token, next: '/' } },
  })
  if (answer.status !== 303) throw new Error(`sign-in: ${answer.status} ${answer.text}`)
  return cookieIn(answer)
}

/** The cookie that an answer sets. Empty means none. */
export const cookieIn = ({ headers }: PageAnswer): string =>
  headers['set-cookie']?.[0]?.split(';')[0] ?? ''

/** The actions that a page offers. */
export const actionsIn = (page: string): string[] =>
  Array.from(page.matchAll(/action="\/do\/([^"]+)"/g), ([, action = '']) => action)
