/**
 * The console as an HTTP application: which request gets which answer.
 *
 * - Nothing but the sign-in page and its assets is answered without a session.
 * - A request that changes something comes from a page of ours: its origin is checked, and within a
 *   session the form's token too.
 * - When the processor rejects the operator's credential, the session ends.
 */
import { isIP } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context as HonoContext } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { actionNamed, noticeOf, outcomeOf } from './actions/actions.js'
import { runStatement, STATEMENT_MAX_BYTES } from './actions/statement_upload.js'
import type { Logger } from '../base/log.js'
import { SECOND, type Clock } from '../base/clock.js'
import { isLoopback } from '../base/network.js'
import { Late, NotSent, Refused } from '../operations/calls/calls.js'
import { CommandFault } from '../operations/calls/command_fault.js'
import type { Figures } from './figures/figures.js'
import { html, NOTHING, type Html } from './html/html.js'
import { errorPage, framedPage, signInPage } from './html/layout.js'
import { endedStream, liveStream } from './live.js'
import { PAGES } from './pages/pages.js'
import { statementCsv } from './pages/statement.js'
import { HEADERS } from './headers.js'
import { clientCertificate, type ClientCertificate } from './session/certificate.js'
import type { Content, ConsolePage } from './session/console_page.js'
import { isFormToken, type Notice, type Session, type Sessions } from './session/sessions.js'
import type { SignInLimit } from './session/sign_in_limit.js'
import { identify, isTokenRejected, type Credential, type Uplink } from './session/uplink.js'
import type { StaticFiles } from './static_files.js'

const FORM_MAX_BYTES = 64 * 1_024
/** Statements of a bank are larger than forms (STATEMENT_MAX_BYTES). */
const UPLOAD = '/statement'
const TOKEN_MAX = 256
/** A browser asks for it by itself, again when a connection ends. */
const LIVE = '/live'
const YEAR_S = 31_536_000
const ENDED = 'Your session has ended. Sign in again.'
const NOT_CHANGED = 'Your session had ended, so nothing was changed. Sign in again.'
const REJECTED = 'This is not the token or the certificate of an active operator.'

export interface ConsoleApp {
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly sessions: Sessions
  readonly signInLimit: SignInLimit
  readonly files: StaticFiles
  readonly figures: Pick<Figures, 'state'>
  /** The folder of this machine's logs, which may not exist. */
  readonly logs: string
  /** @param page the pattern of its path */
  readonly observePage: (page: string, seconds: number) => void
  readonly isAllowedHost: (host: string | undefined) => boolean
  readonly openUplink: (credential: Credential) => Uplink
  /** The console's, beside certificates. Undefined means that operators sign in by token only. */
  readonly ownToken: string | undefined
}

interface Env {
  Bindings: HttpBindings
  Variables: { cookie: string; session: Session }
}
type Ctx = HonoContext<Env>

export function createApp(console: ConsoleApp): Hono<Env> {
  const app = new Hono<Env>()
  const { assets } = console.files
  app.use(async (c, next) => {
    for (const [name, value] of HEADERS) c.header(name, value)
    const host = c.req.header('host')
    if (!console.isAllowedHost(host)) return c.text('unknown host: see CONSOLE_HOSTS\n', 421)
    if (c.req.method !== 'GET' && !isSameOrigin(c)) {
      return answerPage(
        c,
        errorPage(assets, 'Refused', 'This request came from another site.'),
        403,
      )
    }
    return next()
  })
  const limitForm = bodyLimit({
    maxSize: FORM_MAX_BYTES,
    onError: (c: Ctx) => tooLarge(c, console, 'A form has at most 64 KB.'),
  })
  const limitUpload = bodyLimit({
    maxSize: STATEMENT_MAX_BYTES,
    onError: (c: Ctx) =>
      tooLarge(c, console, 'A statement has at most 32 MB here: reconcile FILE.'),
  })
  app.use((c, next) => (c.req.path === UPLOAD ? next() : limitForm(c, next)))
  app.get('/healthz', (c) => c.json({ alive: true }))
  app.get('/assets/*', (c) => asset(c, console.files))
  app.get('/sign-in', (c) => {
    const message = c.req.query('ended') === undefined ? undefined : ENDED
    return askToSignIn(c, console, nextOf(c.req.query('next')), message, 200)
  })
  app.post('/sign-in', (c) => signIn(c, console))
  app.use(async (c, next) => {
    const cookie = getCookie(c, cookieName(c)) ?? ''
    const { sessions } = console
    const find = c.req.path === LIVE ? sessions.look : sessions.find
    const session = find(cookie, fingerprintOf(c))
    if (session === undefined) return toSignIn(c, console)
    c.set('cookie', cookie)
    c.set('session', session)
    return next()
  })
  app.post('/sign-out', async (c) => {
    if (!(await isOwnForm(c))) return forged(c, console)
    console.sessions.end(c.get('cookie'))
    deleteCookie(c, cookieName(c), { path: '/' })
    return c.redirect('/sign-in', 303)
  })
  app.post('/do/:action', (c) => act(c, console))
  app.post(UPLOAD, limitUpload, (c) => upload(c, console))
  app.get(`${UPLOAD}/findings.csv`, (c) => findings(c))
  app.get('/statements/:id/statement.csv', (c) => statement(c, console, c.req.param('id')))
  app.get(LIVE, (c) => live(c, console))
  for (const page of PAGES) app.get(page.path, (c) => show(c, console, page))
  app.notFound((c) => {
    if (c.get('session') === undefined) return toSignIn(c, console)
    return answerPage(c, errorPage(assets, 'Not found', 'The console has no such page.'), 404)
  })
  app.onError((error, c) => {
    if (isTokenRejected(error)) return endSession(c, console)
    console.log.error({ error }, 'a page of the console failed')
    const text = isTold(error) ? error.message : 'See the log.'
    return answerPage(c, errorPage(assets, 'This page cannot be shown', text), 502)
  })
  return app
}

/** Its message is for operators. */
const isTold = (error: Error): boolean =>
  error.name === 'Error' ||
  [Refused, Late, NotSent, CommandFault].some((told) => error instanceof told)

const answerPage = (c: Ctx, page: Html, status: 200 | 401 | 403 | 404 | 413 | 429 | 502 = 200) =>
  c.body(String(page), status, { 'content-type': 'text/html; charset=utf-8' })

/** Cookies are not separated by port: each console on a host has a name of its own. */
const cookieName = (c: Ctx): string => `console_${c.env.incoming.socket.localPort ?? ''}`

/** Browsers send where a request comes from; others that change something have to say it too. */
function isSameOrigin(c: Ctx): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin') ?? ''
  return URL.canParse(origin) && new URL(origin).host === c.req.header('host')
}

/** A proxy that ends TLS speaks plain HTTP with us; a browser says what it speaks itself. */
const isSecure = (c: Ctx): boolean =>
  [c.req.url, c.req.header('origin') ?? ''].some((address) => address.startsWith('https:'))

const certificateOf = (c: Ctx): ClientCertificate => clientCertificate(c.env.incoming.socket)

function fingerprintOf(c: Ctx): string | undefined {
  const certificate = certificateOf(c)
  return certificate.kind === 'verified' ? certificate.fingerprint : undefined
}

/** @param message why; the answer has this status then */
function askToSignIn(
  c: Ctx,
  { files: { assets }, ownToken }: ConsoleApp,
  next: string,
  message?: string,
  status: 200 | 401 | 429 | 502 = 200,
) {
  const page = signInPage({
    ...{ assets, next },
    ...(message === undefined ? {} : { message }),
    ...(ownToken === undefined ? {} : { certificate: certificateOf(c) }),
  })
  return answerPage(c, page, status)
}

/** A path of ours, for after the sign-in. */
const nextOf = (path: unknown): string =>
  typeof path === 'string' && /^\/[A-Za-z0-9/?=&_.%-]*$/.test(path) && !path.startsWith('//')
    ? path
    : '/'

function asset(c: Ctx, { byPath }: StaticFiles) {
  const file = byPath.get(c.req.path)
  if (file === undefined) return c.text('not found\n', 404)
  const cached = { 'content-type': file.type, 'cache-control': `max-age=${YEAR_S}, immutable` }
  return c.body(file.content, 200, cached)
}

async function signIn(c: Ctx, console: ConsoleApp) {
  const form = await c.req.parseBody()
  const next = nextOf(form['next'])
  const address = clientAddress(c)
  const refuse = (message: string, status: 401 | 429 | 502) =>
    askToSignIn(c, console, next, message, status)
  const isByCertificate = form['by'] === 'certificate'
  const credential = isByCertificate ? shownCertificate(c, console) : enteredToken(form['token'])
  const token = isByCertificate ? undefined : credential?.token
  const attempt = { address, certificate: fingerprintOf(c), token }
  const wait = console.signInLimit.waitSeconds(attempt)
  if (wait > 0) {
    c.header('retry-after', String(wait))
    return refuse(`Too many failed attempts. Try again in ${wait} s.`, 429)
  }
  const ended = console.signInLimit.begin(attempt)
  if (credential === undefined) return refuse(REJECTED, 401)
  const certificate = credential.certificate === undefined ? null : (fingerprintOf(c) ?? null)
  const uplink = console.openUplink(credential)
  try {
    const { name, roles } = (await identify(uplink)).operator
    const cookie = console.sessions.start({ name, roles, uplink, certificate })
    setCookie(c, cookieName(c), cookie, {
      ...{ path: '/', httpOnly: true, sameSite: 'Strict', secure: isSecure(c) },
    })
    ended('signed_in')
    console.log.info({ operator: name }, 'operator signed in')
    return c.redirect(next, 303)
  } catch (error) {
    uplink.close()
    if (!(error instanceof Refused)) {
      ended('unanswered')
      return refuse(messageOf(error), 502)
    }
    ended('refused')
    console.log.warn({ client_address: address, code: error.code }, 'sign-in refused')
    return refuse(REJECTED, 401)
  }
}

/**
 * The client's, also behind a proxy on this machine, which adds what it has seen as the last entry:
 * the client can write those before it.
 */
function clientAddress(c: Ctx): string {
  const peer = c.env.incoming.socket.remoteAddress ?? ''
  const seen = c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? ''
  return isLoopback(peer) && isIP(seen) !== 0 ? seen : peer
}

function enteredToken(field: unknown): Credential | undefined {
  const token = typeof field === 'string' ? field.trim() : ''
  return isToken(token) ? { token } : undefined
}

/** What a header can carry. */
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && text.length <= TOKEN_MAX

function shownCertificate(c: Ctx, { ownToken }: ConsoleApp): Credential | undefined {
  const certificate = certificateOf(c)
  if (ownToken === undefined || certificate.kind !== 'verified') return undefined
  return { token: ownToken, certificate: certificate.der }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')

function toSignIn(c: Ctx, console: ConsoleApp) {
  if (c.req.path === LIVE) return endedStream(c)
  const isSignedOut = c.req.path === '/sign-out'
  const page = c.req.method === 'GET' ? c.req.url : (c.req.header('referer') ?? '')
  const { pathname, search } = new URL(URL.canParse(page) ? page : '/', c.req.url)
  const next = isSignedOut ? '/' : nextOf(pathname + search)
  const hasEnded = getCookie(c, cookieName(c)) !== undefined
  if (hasEnded) deleteCookie(c, cookieName(c), { path: '/' })
  if (c.req.method === 'GET' || isSignedOut) {
    const query = `next=${encodeURIComponent(next)}${hasEnded && !isSignedOut ? '&ended' : ''}`
    return c.redirect(`/sign-in?${query}`, 303)
  }
  return askToSignIn(c, console, next, NOT_CHANGED, 401)
}

function endSession(c: Ctx, console: ConsoleApp) {
  console.sessions.end(c.get('cookie'))
  deleteCookie(c, cookieName(c), { path: '/' })
  return askToSignIn(c, console, nextOf(c.req.path), ENDED, 401)
}

async function isOwnForm(c: Ctx): Promise<boolean> {
  return isFormToken(c.get('session'), (await c.req.parseBody())['form_token'])
}

const forged = (c: Ctx, { files: { assets } }: ConsoleApp) =>
  answerPage(
    c,
    errorPage(assets, 'Refused', 'This form is not of your session. Load its page again.'),
    403,
  )

const tooLarge = (c: Ctx, { files: { assets } }: ConsoleApp, text: string) =>
  answerPage(c, errorPage(assets, 'Too large', `${text} Nothing was changed.`), 413)

async function act(c: Ctx, console: ConsoleApp) {
  if (!(await isOwnForm(c))) return forged(c, console)
  const session = c.get('session')
  const form = await c.req.parseBody()
  const action = actionNamed(c.req.param('action') ?? '')
  if (action === undefined) return c.notFound()
  const field = fieldsOf(form)
  session.notice = await outcomeOf(action, session, field)
  return c.redirect(nextOf(field('back')), 303)
}

const fieldsOf =
  (form: Readonly<Record<string, unknown>>) =>
  (name: string): string => {
    const value = form[name]
    return typeof value === 'string' ? value.trim() : ''
  }

async function upload(c: Ctx, console: ConsoleApp) {
  if (!(await isOwnForm(c))) return forged(c, console)
  const session = c.get('session')
  const form = await c.req.parseBody()
  const field = fieldsOf(form)
  const file = form['statement']
  const compare = async (): Promise<Notice> => {
    if (!(file instanceof File)) throw new CommandFault('Choose the file of the statement.')
    session.statementRun = undefined
    session.statementRun = await runStatement({
      ...{ clients: await session.uplink.clients(), clock: console.clock, file },
      ...{ from: field('from'), to: field('to'), reason: field('reason') },
    })
    return { tone: 'good', text: `${session.statementRun.file} is compared.` }
  }
  session.notice = await noticeOf(field('reason'), compare, (why) => ({
    ...{ tone: 'bad', text: `No answer: ${why}\nThe statement is not compared. Try it again.` },
  }))
  return c.redirect('/reconciliation', 303)
}

function findings(c: Ctx) {
  const { statementRun: run } = c.get('session')
  return run === undefined ? c.notFound() : c.body(run.csv, 200, csvNamed('findings'))
}

async function statement(c: Ctx, { clock, files: { assets } }: ConsoleApp, id: string) {
  const clients = await c.get('session').uplink.clients()
  const { searchParams: query } = new URL(c.req.url)
  const csv = await statementCsv(clients, id, query, clock.now())
  if (csv.kind === 'none') return answerPage(c, errorPage(assets, 'No statement', csv.fault), 404)
  return c.body(csv.stream, 200, csvNamed('statement'))
}

const csvNamed = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
})

interface ShownPage {
  readonly page: ConsolePage
  readonly url: URL
  /** Empty means that the path has none. */
  readonly id: string
}

async function contentOf(
  c: Ctx,
  console: ConsoleApp,
  { page, url, id }: ShownPage,
): Promise<Content> {
  const session = c.get('session')
  const { clients, operator } = await identify(session.uplink)
  session.roles = operator.roles
  return page.render({
    ...{ session, clients, id, query: url.searchParams },
    ...{ now: console.clock.now(), figures: console.figures.state(), logs: console.logs },
  })
}

async function show(c: Ctx, console: ConsoleApp, page: ConsolePage) {
  const session = c.get('session')
  const url = new URL(c.req.url)
  const id = idIn(page.path, url.pathname)
  if (id === null) return c.notFound()
  const begunAt = performance.now()
  const content = await contentOf(c, console, { page, url, id })
  console.observePage(page.path, (performance.now() - begunAt) / SECOND)
  if (content.redirect !== undefined) return c.redirect(content.redirect, 303)
  const { notice } = session
  session.notice = undefined
  const { title, live, body = NOTHING, status = 200 } = content
  const framed = framedPage({
    ...{ assets: console.files.assets, title, path: page.path },
    ...{ operator: session.name, roles: session.roles, formToken: session.formToken },
    search: page.path === '/search' ? (url.searchParams.get('q') ?? '') : '',
    ...(notice === undefined ? {} : { notice }),
    ...(live === undefined
      ? {}
      : { liveFrom: `${LIVE}?page=${encodeURIComponent(url.pathname + url.search)}` }),
    live: live ?? NOTHING,
    body,
  })
  return answerPage(c, framed, status)
}

/** The live part of a page, each time it has changed. */
function live(c: Ctx, console: ConsoleApp) {
  const url = new URL(nextOf(c.req.query('page')), 'http://console')
  const page = PAGES.find(({ path }) => isAt(path, url.pathname))
  const id = page === undefined ? null : idIn(page.path, url.pathname)
  if (page === undefined || id === null) return c.notFound()
  return liveStream(c, async () => {
    if (!console.sessions.isOpen(c.get('cookie'))) return null
    try {
      return (await contentOf(c, console, { page, url, id })).live ?? html``
    } catch (error) {
      if (isTokenRejected(error)) console.sessions.end(c.get('cookie'))
      return isTokenRejected(error) ? null : undefined
    }
  })
}

const isAt = (pattern: string, path: string): boolean =>
  pattern.endsWith(':id') ? path.startsWith(pattern.slice(0, -3)) : path === pattern

/** What stands for `:id`. Empty means that the path has none; null that its escapes are broken. */
function idIn(pattern: string, path: string): string | null {
  const start = pattern.indexOf(':id')
  try {
    return start === -1 ? '' : decodeURIComponent(path.slice(start))
  } catch {
    return null
  }
}
