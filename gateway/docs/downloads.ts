/**
 * Files to download from /docs: the packages of the clients, the collections for Postman and Bruno.
 *
 * - The packages are those of the build (scripts/build.sh). Without Python there is no wheel.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { branded } from './brand.js'
import { zipOf } from './zip.js'

const FOLDER = 'src/client/collection'
const PACKAGES = '.build/packages'

export interface Download {
  /** The text of the link on the first page. */
  readonly title: string
  /** The file or folder in the repository that guides link to. */
  readonly source: string
  readonly path: string
  readonly contentType: string
  readonly content: Buffer
}

const POSTMAN = 'causeway.postman_collection.json'

/** Called once per process. */
export function readDownloads(brand: string): readonly Download[] {
  const read = (path: string): Buffer =>
    Buffer.from(branded(readFileSync(join(projectRoot(), FOLDER, path), 'utf8'), brand))
  const bruno = readdirSync(join(projectRoot(), FOLDER, 'bruno'), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name).slice(join(projectRoot(), FOLDER).length + 1),
    )
    .sort()
  return [
    ...packages(),
    {
      title: 'Postman collection',
      source: `${FOLDER}/${POSTMAN}`,
      path: `/docs/downloads/${POSTMAN}`,
      contentType: 'application/json; charset=utf-8',
      content: read(POSTMAN),
    },
    {
      title: 'Bruno collection',
      source: `${FOLDER}/bruno`,
      path: '/docs/downloads/causeway-bruno.zip',
      contentType: 'application/zip',
      content: zipOf(
        bruno.map((path) => ({
          path: path.replace('bruno', 'causeway-bruno'),
          content: read(path),
        })),
      ),
    },
  ]
}

/** By the end of the file's name. */
const PACKAGE_KINDS = [
  { end: '.tgz', title: 'npm package', contentType: 'application/gzip' },
  { end: '.whl', title: 'Python wheel', contentType: 'application/zip' },
] as const

function packages(): readonly Download[] {
  const folder = join(projectRoot(), PACKAGES)
  const names = existsSync(folder) ? readdirSync(folder) : []
  return PACKAGE_KINDS.flatMap(({ end, title, contentType }) =>
    names
      .filter((name) => name.endsWith(end))
      .map((name) => ({
        ...{ title, contentType, source: `${PACKAGES}/${name}`, path: `/docs/downloads/${name}` },
        content: readFileSync(join(folder, name)),
      })),
  )
}
