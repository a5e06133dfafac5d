/** A stack with its console, for tests: signing in, requests without a browser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { request, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { FILES } from '../../src/base/subjects.js'
import { eventually } from '../support/eventually.js'
import { startStack, type RunningStack } from '../support/stack.js'

export interface ConsoleStack extends RunningStack {
  readonly url: string
  /** The token of the first operator, who has all roles. */
  readonly token: string
}

export async function startConsoleStack(
  settings: Readonly<Record<string, string>> = {},
): Promise<ConsoleStack> {
  const stack = await startStack({ settings: { CONSOLE: 'on', RAIL_DELAY_MS: '50', ...settings } })
  const url = stack.sandbox.console_url ?? ''
  await eventually('the console serves', () => isServing(url))
  const token = readFileSync(join(stack.dataDir, FILES.operatorToken), 'utf8').trim()
  return { ...stack, url, token }
}

export const isServing = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
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
}

/** A request as it is given: no cookie, no redirect and no origin is added. */
export function requestPage(url: string, given: PageRequest = {}): Promise<PageAnswer> {
  const { method = 'GET', headers = {}, form } = given
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...type, ...headers } }, (response) => {
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

/** @returns the cookie of the session */
export async function signIn({ url, token }: Pick<ConsoleStack, 'url' | 'token'>): Promise<string> {
  const answer = await requestPage(`${url}/sign-in`, {
    ...{ method: 'POST', headers: { origin: url }, form: { token, next: '/' } },
  })
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  if (answer.status !== 303) throw new Error(`sign-in: ${answer.status} ${answer.text}`)
  return cookie.split(';')[0] ?? ''
}
