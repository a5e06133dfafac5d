/**
 * The partner guide (gateway/guide, a file for each page) and the guides of the clients, rendered
 * from Markdown.
 *
 * - Every section is on one page. A link to a section leads to its page, one to the index of the
 *   guide to the first page.
 * - HTML in the guides is escaped; its comments are dropped. The layout shows the title of a page.
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
  readonly group: string
  readonly file: string
  /** Instead of the title in the file. */
  readonly title?: string
  /** The only section of the file that this page has. Another page of the file leaves it out. */
  readonly section?: string
}

const GUIDE_INDEX = 'gateway/README.md'
const FIRST_PAGE = '/docs/guide/first-request'
const NODE_FILE = 'src/client/README.md'
const PYTHON_FILE = 'src/client/python/README.md'

const guide = (name: string): Outline => ({
  path: `/docs/guide/${name}`,
  group: 'Guide',
  file: `gateway/guide/${name}.md`,
})

const client = (name: string, title: string, file: string): Outline => ({
  path: `/docs/clients/${name}`,
  group: 'Clients',
  file,
  title,
})

const OUTLINE: readonly Outline[] = [
  ...['first-request', 'signing', 'payments', 'mobile', 'payouts'].map(guide),
  ...['webhooks', 'webhook-receivers', 'deliveries', 'errors'].map(guide),
  ...['units', 'operations', 'sandbox', 'going-live', 'compatibility'].map(guide),
  client('node', 'Node and TypeScript', NODE_FILE),
  client('python', 'Python', PYTHON_FILE),
  {
    ...client('collections', 'Bruno and Postman', NODE_FILE),
    section: 'Collection for Bruno and Postman',
  },
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
  const hrefs = new Map([...served, [GUIDE_INDEX, FIRST_PAGE]])
  const pages = OUTLINE.map((outline) => {
    const { path, file } = outline
    const tokens = tokensOf(outline, new Marked().lexer(read(file)))
    const headings = headingsOf(tokens)
    if (!hrefs.has(file)) hrefs.set(file, path)
    for (const { text } of headings) {
      const anchor = anchorOf(text)
      hrefs.set(`${file}#${anchor}`, `${path}#${anchor}`)
    }
    return { title: titleIn(headings), ...outline, tokens }
  })
  return pages.map(({ path, title, group, file, tokens }) => {
    const renderer = createRenderer((href) =>
      hrefs.get(href.startsWith('#') ? file + href : posix.join(posix.dirname(file), href)),
    )
    const shown = tokens.filter((token) => !isHeading(token) || token.depth > 1)
    const headings = headingsOf(shown).map(({ text }) => ({
      anchor: anchorOf(text),
      text: text.replaceAll('`', ''),
    }))
    return { path, title, group, html: renderer.parser([...shown]), headings }
  })
}

const titleIn = (headings: readonly Tokens.Heading[]): string =>
  headings.find(({ depth }) => depth === 1)?.text ?? ''

/** What the page has of its file. */
function tokensOf({ file, section }: Outline, tokens: readonly Token[]): readonly Token[] {
  const elsewhere = OUTLINE.filter((page) => page.file === file).map((page) => page.section)
  let current = ''
  return tokens.filter((token) => {
    if (isHeading(token) && token.depth === 2) current = token.text
    return section === undefined ? !elsewhere.includes(current) : current === section
  })
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
