/** The frame of every page: head, navigation, search, who is signed in, what was just done. */
import { html, NOTHING, type Html } from './html.js'

/** Where the style, the script and the icon are. */
export interface Assets {
  readonly style: string
  readonly script: string
  readonly icon: string
}

export interface Frame {
  readonly assets: Assets
  readonly title: string
  /** The path of the page in the navigation. */
  readonly path: string
  readonly operator: string
  readonly roles: readonly string[]
  readonly formToken: string
  readonly search: string
  readonly notice?: {
    readonly tone: string
    readonly text: string
    readonly secret?: string
    readonly links?: readonly { readonly href: string; readonly text: string }[]
  }
  /** Where the live part is made again. Absent if there is none. */
  readonly liveFrom?: string
  readonly live: Html
  readonly body: Html
}

const NAVIGATION: readonly (readonly [group: string, pages: readonly (readonly string[])[]])[] = [
  ['', [['/', 'Overview']]],
  [
    'To decide',
    [
      ['/review', 'Review queue'],
      ['/approvals', 'Second operator'],
      ['/unknown', 'Unknown outcomes'],
      ['/discrepancies', 'Discrepancies'],
      ['/reconciliation', 'Reconciliation'],
    ],
  ],
  [
    'To look up',
    [
      ['/webhooks', 'Webhooks'],
      ['/partners', 'Partners'],
      ['/money', 'Money'],
    ],
  ],
  [
    'Service',
    [
      ['/shards', 'Shards'],
      ['/callers', 'Callers'],
      ['/system', 'System'],
      ['/actions', 'Action log'],
    ],
  ],
]

export const framedPage = (frame: Frame): Html =>
  document(
    frame.assets,
    frame.title,
    html`
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <a class="brand" href="/"><img src="${frame.assets.icon}" alt="" /> Causeway</a>
        <form class="search" role="search" action="/search">
          <label class="unseen" for="q">Search</label>
          <input
            id="q"
            name="q"
            type="search"
            value="${frame.search}"
            maxlength="256"
            placeholder="Id, request, reference, key, user"
            autocomplete="off"
            spellcheck="false"
            required
          />
          <kbd aria-hidden="true">/</kbd>
        </form>
        <div class="operator">
          <span
            ><strong>${frame.operator}</strong>
            <span class="roles">${frame.roles.join(', ')}</span></span
          >
          <form method="post" action="/sign-out">
            <input type="hidden" name="form_token" value="${frame.formToken}" />
            <button class="quiet">Sign out</button>
          </form>
        </div>
      </header>
      <div class="columns">
        ${navigation(frame.path)}
        <main id="main" tabindex="-1">
          <div class="heading">
            <h1>${frame.title}</h1>
            <span class="hint">Times are UTC</span>
          </div>
          ${noticeOf(frame)} ${liveRegion(frame)} ${frame.body} ${staleNotice(frame)}
        </main>
      </div>
    `,
  )

const liveRegion = ({ live, liveFrom }: Frame): Html =>
  liveFrom === undefined ? NOTHING : html`<div id="live" data-from="${liveFrom}">${live}</div>`

/** Shown while the live part is not kept current. */
const staleNotice = ({ liveFrom }: Frame): Html =>
  liveFrom === undefined
    ? NOTHING
    : html`<div role="status">
        <p id="stale" class="notice warn" hidden>
          <strong>Not current.</strong> There is no answer; what is shown is older.
          <a href="">Load it again</a>
        </p>
      </div>`

function noticeOf({ notice }: Frame): Html {
  if (notice === undefined) return NOTHING
  const { tone, text, secret, links = [] } = notice
  const role = tone === 'good' ? 'status' : 'alert'
  return html`<div class="notice ${tone}" role="${role}">
    <p>${text.split('\n').map((line) => html`<span class="line">${line}</span> `)}</p>
    ${
      links.length === 0
        ? NOTHING
        : html`<p>${links.map(({ href, text }) => html`<a href="${href}">${text}</a> `)}</p>`
    }
    ${
      secret === undefined
        ? NOTHING
        : html`<p class="secret">
            <code>${secret}</code>
            <button type="button" class="quiet" data-copy="${secret}">Copy</button>
          </p>`
    }
  </div>`
}

function navigation(current: string): Html {
  const links = NAVIGATION.map(
    ([group, pages]) => html`
      <li>
        ${group === '' ? NOTHING : html`<span class="group">${group}</span>`}
        <ul>
          ${pages.map(([path = '', name = '']) => {
            const isCurrent = path === current || current === `${path}/:id`
            return html`<li>
              <a href="${path}" ${isCurrent ? html`aria-current="page"` : NOTHING}>${name}</a>
            </li>`
          })}
        </ul>
      </li>
    `,
  )
  return html`
    <nav aria-label="Pages">
      <ul>
        ${links}
      </ul>
    </nav>
  `
}

export interface SignIn {
  readonly assets: Assets
  /** Why the operator has to sign in again, or what went wrong. */
  readonly message?: string
  /** The page that is shown afterwards. */
  readonly next: string
  /** Absent means that operators sign in by token only. */
  readonly certificate?: ShownCertificate
}

/** The certificate of the browser; `rejected`: TLS has not verified it. */
type ShownCertificate =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly cause: string }
  | { readonly kind: 'verified'; readonly name: string }

export const signInPage = ({ assets, message, next, certificate }: SignIn): Html =>
  document(
    assets,
    'Sign in',
    html`
      <main id="main" class="sign-in">
        <p class="brand"><img src="${assets.icon}" alt="" /> Causeway</p>
        <h1>Sign in</h1>
        ${message === undefined ? NOTHING : html`<p class="notice bad" role="alert">${message}</p>`}
        ${certificate === undefined ? NOTHING : certificateForm(certificate, next)}
        <form method="post" action="/sign-in">
          <input type="hidden" name="next" value="${next}" />
          <label for="token">Operator token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="current-password"
            spellcheck="false"
            required
            autofocus
          />
          <button>Sign in</button>
        </form>
        <p class="hint">
          The first operator’s token is in <code>operator.token</code> of the data directory. It is
          kept in memory only, until you sign out.
        </p>
      </main>
    `,
  )

function certificateForm(certificate: ShownCertificate, next: string): Html {
  if (certificate.kind === 'none') {
    return html`<p class="hint">Your browser has shown no certificate of an operator.</p>`
  }
  if (certificate.kind === 'rejected') {
    return html`<p class="notice warn">
      The certificate of your browser is not accepted: ${certificate.cause}
    </p>`
  }
  return html`<form method="post" action="/sign-in">
    <input type="hidden" name="next" value="${next}" />
    <input type="hidden" name="by" value="certificate" />
    <button>Sign in with the certificate ${certificate.name}</button>
  </form>`
}

export const errorPage = (assets: Assets, title: string, text: string): Html =>
  document(
    assets,
    title,
    html`<main id="main" class="sign-in">
      <p class="brand"><img src="${assets.icon}" alt="" /> Causeway</p>
      <h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="/">To the overview</a></p>
    </main>`,
  )

const document = ({ style, script, icon }: Assets, title: string, body: Html): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Causeway</title>
        <link rel="icon" href="${icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${style}" />
        <script src="${script}" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html> `
