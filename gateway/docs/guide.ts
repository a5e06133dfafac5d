/**
 * The partner guide (gateway/README.md) as pages: its sections, rendered from Markdown.
 *
 * - Every section is on one page. A link to a section leads to its page.
 * - HTML in the guide is escaped; its comments are dropped.
 * - Links to files of the repository, which the gateway does not serve, become plain text.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { projectRoot } from '../../src/base/project_root.js'
import { escapeHtml } from './html.js'

export interface GuidePage {
  readonly path: string
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
}

export interface Heading {
  readonly anchor: string
  readonly text: string
}

interface Outline {
  readonly name: string
  readonly title: string
  /** Headings of the second level in the guide. */
  readonly sections: readonly string[]
}

const OUTLINE: readonly Outline[] = [
  {
    name: 'first-request',
    title: 'First request',
    sections: ['Quick start', 'A payment from end to end'],
  },
  { name: 'signing', title: 'Signing', sections: ['Signing'] },
  {
    name: 'payments',
    title: 'Payments',
    sections: ['Payment intents', 'Session tokens', 'Receipts', 'Refunds'],
  },
  { name: 'mobile', title: 'Mobile apps', sections: ['Mobile apps'] },
  { name: 'payouts', title: 'Payouts', sections: ['Payouts'] },
  { name: 'webhooks', title: 'Webhooks', sections: ['Webhooks'] },
  {
    name: 'errors',
    title: 'Errors and retries',
    sections: ['Errors', 'Retries and idempotency', 'Limits'],
  },
  { name: 'units', title: 'Units', sections: ['Units'] },
  { name: 'operations', title: 'Operations', sections: ['Operations'] },
  { name: 'sandbox', title: 'Sandbox', sections: ['Sandbox'] },
]

const GUIDE_FILE = 'gateway/README.md'

export function readGuide(brand: string): readonly GuidePage[] {
  const text = readFileSync(join(projectRoot(), GUIDE_FILE), 'utf8')
  return guidePages(branded(text, brand))
}

/** The header names of an installation, in prose and in programs. */
const branded = (text: string, brand: string): string =>
  text.replaceAll('X-Service-', `X-${brand}-`).replaceAll('x-service-', brandPrefix(brand))

const brandPrefix = (brand: string): string => `x-${brand.toLowerCase()}-`

export function guidePages(guide: string): readonly GuidePage[] {
  const sections = sectionsOf(new Marked().lexer(guide))
  const outlined = OUTLINE.flatMap((page) => page.sections)
  const missing = [...sections.keys()].filter((title) => !outlined.includes(title))
  if (missing.length > 0) throw new Error(`sections of the guide without a page: ${missing.join()}`)
  const hrefs = new Map<string, string>()
  const pages = OUTLINE.map((page) => {
    const path = `/docs/guide/${page.name}`
    const tokens = page.sections.flatMap((title) => sections.get(title) ?? [])
    for (const { text } of headingsOf(tokens)) {
      hrefs.set(anchorOf(text), text === page.title ? path : `${path}#${anchorOf(text)}`)
    }
    return { ...page, path, tokens }
  })
  const renderer = createRenderer((anchor) => hrefs.get(anchor))
  return pages.map(({ path, title, tokens }) => {
    // The title of the page replaces the heading of its only section.
    const shown = tokens.filter((token) => !isHeading(token) || token.text !== title)
    const headings = headingsOf(shown).map(({ text }) => ({
      anchor: anchorOf(text),
      text: text.replaceAll('`', ''),
    }))
    return { path, title, html: renderer.parser([...shown]), headings }
  })
}

/** By title. The text before the first section is dropped: the navigation replaces it. */
function sectionsOf(tokens: readonly Token[]): ReadonlyMap<string, readonly Token[]> {
  const sections = new Map<string, Token[]>()
  let current: Token[] = []
  for (const token of tokens) {
    if (isHeading(token) && token.depth === 2) sections.set(token.text, (current = []))
    current.push(token)
  }
  return sections
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const headingsOf = (tokens: readonly Token[]): Tokens.Heading[] => tokens.filter(isHeading)

/** As Markdown renderers make them, so the links of the guide work here too. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

/** `hrefOf` is undefined for a section that does not exist. */
function createRenderer(hrefOf: (anchor: string) => string | undefined): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text)
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const target = href.startsWith('#') ? hrefOf(href.slice(1)) : undefined
        const external = /^https:\/\//.test(href) ? href : undefined
        const link = target ?? external
        return link === undefined ? content : `<a href="${escapeHtml(link)}">${content}</a>`
      },
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string): string =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
        return `<div class="table"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
      html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : escapeHtml(text)),
    },
  })
}
