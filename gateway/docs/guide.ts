/**
 * The partner guide (gateway/README.md) and the guides of the clients as pages: their sections,
 * rendered from Markdown.
 *
 * - Every section is on one page. A link to a section leads to its page.
 * - HTML in the guides is escaped; its comments are dropped.
 * - Links to files of the repository, which the gateway does not serve, become plain text.
 */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { projectRoot } from '../../src/base/project_root.js'
import { branded } from './brand.js'
import { escapeHtml } from './html.js'

export interface GuidePage {
  readonly path: string
  readonly title: string
  /** The part of the navigation. */
  readonly group: string
  readonly html: string
  readonly headings: readonly Heading[]
}

export interface Heading {
  readonly anchor: string
  readonly text: string
}

interface Outline {
  readonly path: string
  readonly title: string
  readonly group: string
  readonly file: string
  /**
   * Headings of the second level in the file. Undefined means all of the file but its other pages.
   */
  readonly sections?: readonly string[]
}

const GUIDE_FILE = 'gateway/README.md'
const NODE_FILE = 'src/client/README.md'
const PYTHON_FILE = 'src/client/python/README.md'

const guide = (name: string, title: string, ...sections: readonly string[]): Outline => ({
  path: `/docs/guide/${name}`,
  title,
  group: 'Guide',
  file: GUIDE_FILE,
  sections,
})

const client = (name: string, title: string, file: string, section?: string): Outline => ({
  path: `/docs/clients/${name}`,
  title,
  group: 'Clients',
  file,
  ...(section === undefined ? {} : { sections: [section] }),
})

const OUTLINE: readonly Outline[] = [
  guide('first-request', 'First request', 'Quick start', 'A payment from end to end'),
  guide('signing', 'Signing', 'Signing'),
  guide('payments', 'Payments', 'Payment intents', 'Session tokens', 'Receipts', 'Refunds'),
  guide('mobile', 'Mobile apps', 'Mobile apps'),
  guide('payouts', 'Payouts', 'Payouts'),
  guide('webhooks', 'Webhooks', 'Webhooks'),
  guide('errors', 'Errors and retries', 'Errors', 'Retries and idempotency', 'Limits'),
  guide('units', 'Units', 'Units'),
  guide('operations', 'Operations', 'Operations'),
  guide('sandbox', 'Sandbox', 'Sandbox'),
  guide('going-live', 'Going live', 'Going live'),
  guide('compatibility', 'Compatibility', 'Compatibility'),
  client('node', 'Node and TypeScript', NODE_FILE),
  client('python', 'Python', PYTHON_FILE),
  client('collections', 'Bruno and Postman', NODE_FILE, 'Collection for Bruno and Postman'),
]

/** @param hrefs of files that are served, by their path in the repository */
export function readGuide(
  brand: string,
  hrefs: ReadonlyMap<string, string> = new Map(),
): readonly GuidePage[] {
  const read = (file: string): string =>
    branded(readFileSync(join(projectRoot(), file), 'utf8'), brand)
  return guidePages(read, hrefs)
}

export function guidePages(
  read: (file: string) => string,
  served: ReadonlyMap<string, string> = new Map(),
): readonly GuidePage[] {
  const hrefs = new Map(served)
  const sections = new Map(
    [...new Set(OUTLINE.map(({ file }) => file))].map((file) => [file, sectionsOf(read(file))]),
  )
  const pages = OUTLINE.map((outline) => {
    const { path, title, file } = outline
    const tokens = tokensOf(outline, sections.get(file) ?? new Map())
    if (!hrefs.has(file)) hrefs.set(file, path)
    for (const { text } of headingsOf(tokens)) {
      const anchor = anchorOf(text)
      hrefs.set(`${file}#${anchor}`, text === title ? path : `${path}#${anchor}`)
    }
    return { ...outline, tokens }
  })
  return pages.map(({ path, title, group, file, tokens }) => {
    const renderer = createRenderer((href) =>
      hrefs.get(href.startsWith('#') ? file + href : posix.join(posix.dirname(file), href)),
    )
    // The title of the page replaces the heading of its only section.
    const shown = tokens.filter((token) => !isHeading(token) || !isTitle(token, title))
    const headings = headingsOf(shown)
      .filter(({ depth }) => depth > 1)
      .map(({ text }) => ({ anchor: anchorOf(text), text: text.replaceAll('`', '') }))
    return { path, title, group, html: renderer.parser([...shown]), headings }
  })
}

const isTitle = ({ depth, text }: Tokens.Heading, title: string): boolean =>
  depth === 1 || text === title

/** @throws when a section of the file is on no page */
function tokensOf(
  { file, sections: named }: Outline,
  sections: ReadonlyMap<string, readonly Token[]>,
): readonly Token[] {
  const pages = OUTLINE.filter((page) => page.file === file)
  const elsewhere = pages.flatMap((page) => page.sections ?? [])
  const others = [...sections.keys()].filter((title) => !elsewhere.includes(title))
  if (named === undefined) return others.flatMap((title) => sections.get(title) ?? [])
  const missing = others.filter((title) => title !== BEFORE_SECTIONS)
  if (missing.length > 0 && pages.every((page) => page.sections !== undefined)) {
    throw new Error(`sections of ${file} without a page: ${missing.join()}`)
  }
  return named.flatMap((title) => sections.get(title) ?? [])
}

/** The title of the text before the first section. */
const BEFORE_SECTIONS = ''

function sectionsOf(text: string): ReadonlyMap<string, readonly Token[]> {
  const sections = new Map<string, Token[]>()
  let current: Token[] = []
  sections.set(BEFORE_SECTIONS, current)
  for (const token of new Marked().lexer(text)) {
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

/** `hrefOf` is undefined for a section that does not exist and for a file that is not served. */
function createRenderer(hrefOf: (href: string) => string | undefined): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text)
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const link = /^https:\/\//.test(href) ? href : hrefOf(href)
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
