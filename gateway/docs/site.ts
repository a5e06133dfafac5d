/**
 * The documentation at /docs: the API reference, the pages of the partner guide, and their assets.
 *
 * Does not own: access to it (request_handler.ts), the text (gateway/guide, openapi.json).
 *
 * - Paths come from a fixed map, so no path leads to another file.
 * - The browser loads nothing from another origin and runs no inline script.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { DAY, MINUTE, SECOND } from '../../src/base/clock.js'
import type { AnswerHeaders } from '../http/headers.js'
import { TAGS } from '../../src/api/operation.js'
import { readDownloads, type Download } from './downloads.js'
import { readGuide, type Heading } from './guide.js'
import { escapeHtml } from './html.js'
import { guidePage, referencePage, type Site } from './layout.js'
import { staticFile, type StaticFile, type StaticFiles } from '../http/static_file.js'

const FOLDER = join(projectRoot(), 'gateway/docs')
const { resolve } = createRequire(import.meta.url)
const ownAsset = (name: string): [string, string] => [name, join(FOLDER, 'assets', name)]
const swaggerAsset = (name: string): [string, string] => [name, resolve(`swagger-ui-dist/${name}`)]

const ASSETS: readonly (readonly [name: string, file: string])[] = [
  ...['docs.css', 'reference.css', 'icon.svg', 'page.js', 'reference.js', 'api_document.js'].map(
    ownAsset,
  ),
  ...['credentials.js', 'curl.js', 'made.js', 'signature.js'].map(ownAsset),
  swaggerAsset('swagger-ui.css'),
  swaggerAsset('swagger-ui-bundle.js'),
]

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Swagger UI's stylesheet has its icons as data URLs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS: AnswerHeaders = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Cache-Control', `max-age=${MINUTE / SECOND}`],
  ['Content-Security-Policy', CONTENT_SECURITY_POLICY],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
]

/** Made at the first request for one of them, so that no start of a gateway waits for them. */
export function docsOnDemand(brand: string): StaticFiles {
  let files: StaticFiles | undefined
  return {
    get: (path) => (path.startsWith('/docs') ? (files ??= createDocs(brand)).get(path) : undefined),
  }
}

/** Takes about 100 ms, most of it for Markdown and compression. */
export function createDocs(brand: string): ReadonlyMap<string, StaticFile> {
  const contents = ASSETS.map(([name, file]) => [name, readFileSync(file)] as const)
  const downloads = readDownloads(brand)
  const site: Site = {
    assets: `/docs/assets/${versionOf(contents)}`,
    pages: readGuide(brand, new Map(downloads.map(({ source, path }) => [source, path]))),
    reference: referenceOf(downloads),
    referenceHeadings: Object.keys(TAGS).map(headingOfTag),
  }
  const files = new Map<string, StaticFile>()
  for (const [name, content] of contents) files.set(`${site.assets}/${name}`, asset(name, content))
  files.set('/docs', page(referencePage(site)))
  for (const guide of site.pages) files.set(guide.path, page(guidePage(site, guide)))
  for (const download of downloads) files.set(download.path, downloaded(download))
  return files
}

const referenceOf = (downloads: readonly Download[]): string => {
  const links = downloads.map(
    ({ path, title }) => `<li><a href="${path}" download>${escapeHtml(title)}</a></li>`,
  )
  const text = readFileSync(join(FOLDER, 'reference.html'), 'utf8')
  return text.replace('<!-- downloads -->', () => links.join('\n'))
}

/** Swagger UI's id of a tag. */
const headingOfTag = (tag: string): Heading => ({
  anchor: `operations-tag-${tag.replaceAll(' ', '_')}`,
  text: tag,
})

const downloaded = ({ contentType, content }: Download): StaticFile =>
  staticFile(content, [
    ['Content-Type', contentType],
    ['Cache-Control', `max-age=${MINUTE / SECOND}`],
    ['Content-Disposition', 'attachment'],
    ['X-Content-Type-Options', 'nosniff'],
  ])

const page = (html: string): StaticFile => staticFile(Buffer.from(html), PAGE_HEADERS)

const asset = (name: string, content: Buffer): StaticFile =>
  staticFile(content, [
    ['Content-Type', CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? ''],
    ['Cache-Control', `public, max-age=${(365 * DAY) / SECOND}, immutable`],
    ['X-Content-Type-Options', 'nosniff'],
  ])

/** In the path of all assets, so that a browser never mixes two versions. */
function versionOf(contents: readonly (readonly [string, Buffer])[]): string {
  const hash = createHash('sha256')
  for (const [, content] of contents) hash.update(content)
  return hash.digest('hex').slice(0, 12)
}
