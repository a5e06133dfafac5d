/** The HTML around the API reference and the pages of the guide: head, navigation, footer. */
import type { GuidePage, Heading } from './guide.js'
import { escapeHtml } from './html.js'

export interface Site {
  /** The path of the assets' folder. */
  readonly assets: string
  readonly pages: readonly GuidePage[]
  /** The content of the reference page. */
  readonly reference: string
  /** Its parts, which the browser renders. */
  readonly referenceHeadings: readonly Heading[]
}

export const referencePage = (site: Site): string =>
  layout(site, {
    path: '/docs',
    title: 'API reference',
    head: `<link rel="stylesheet" href="${site.assets}/swagger-ui.css">
<link rel="stylesheet" href="${site.assets}/reference.css">
<script src="${site.assets}/swagger-ui-bundle.js" defer></script>
<script src="${site.assets}/reference.js" type="module"></script>`,
    main: site.reference,
  })

export const guidePage = (site: Site, page: GuidePage): string =>
  layout(site, {
    path: page.path,
    title: page.title,
    head: '',
    main: `<article>
<h1>${escapeHtml(page.title)}</h1>
${page.html}</article>
${neighbors(site, page)}`,
  })

interface PageParts {
  readonly path: string
  readonly title: string
  readonly head: string
  readonly main: string
}

const layout = (site: Site, { path, title, head, main }: PageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Causeway partner API</title>
<link rel="icon" href="${site.assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${site.assets}/docs.css">
<script src="${site.assets}/page.js" type="module"></script>
${head}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a href="/docs"><img src="${site.assets}/icon.svg" alt="" width="26" height="26">
Causeway <span>partner API</span></a>
<em>sandbox</em>
</header>
<div class="columns">
<nav aria-label="Documentation">
<p>Reference</p>
<ul>
${navigationItem(path, { path: '/docs', title: 'API reference', headings: site.referenceHeadings })}
<li><a href="/openapi.json">OpenAPI document</a></li>
</ul>
${navigationGroups(path, site.pages)}
</nav>
<main id="main">
${main}
</main>
</div>
</body>
</html>
`

const navigationGroups = (current: string, pages: readonly GuidePage[]): string =>
  [...new Set(pages.map(({ group }) => group))]
    .map((group) => {
      const items = pages.filter((page) => page.group === group)
      const list = items.map((page) => navigationItem(current, page)).join('\n')
      return `<p>${group}</p>\n<ul>\n${list}\n</ul>`
    })
    .join('\n')

type NavigationEntry = Pick<GuidePage, 'path' | 'title' | 'headings'>

/** The current page also lists its headings. */
function navigationItem(current: string, { path, title, headings }: NavigationEntry): string {
  if (path !== current) return `<li><a href="${path}">${escapeHtml(title)}</a></li>`
  const inside = headings.map(
    ({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  )
  const list = inside.length === 0 ? '' : `\n<ul>\n${inside.join('\n')}\n</ul>`
  return `<li><a href="${path}" aria-current="page">${escapeHtml(title)}</a>${list}</li>`
}

const LABELS = { prev: 'Previous', next: 'Next' }

function neighbors({ pages }: Site, page: GuidePage): string {
  const index = pages.indexOf(page)
  const link = (other: GuidePage | undefined, rel: 'prev' | 'next'): string =>
    other === undefined
      ? ''
      : `<a rel="${rel}" href="${other.path}"><small>${LABELS[rel]}</small>
${escapeHtml(other.title)}</a>`
  return `<footer>${link(pages[index - 1], 'prev')}${link(pages[index + 1], 'next')}</footer>`
}
