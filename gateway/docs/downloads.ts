/** Files to download from /docs: the collections for Postman and Bruno. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { branded } from './brand.js'
import { zipOf } from './zip.js'

const FOLDER = 'src/client/collection'

export interface Download {
  /** Of the file or folder in the repository, which guides link to. */
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
    {
      source: `${FOLDER}/${POSTMAN}`,
      path: `/docs/downloads/${POSTMAN}`,
      contentType: 'application/json; charset=utf-8',
      content: read(POSTMAN),
    },
    {
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
