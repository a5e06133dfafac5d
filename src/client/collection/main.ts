/** Writes the collection: `make collection`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COLLECTION_FOLDER, collectionFiles } from './files.js'

const root = process.cwd()
const folder = join(root, COLLECTION_FOLDER)
const files = collectionFiles(root)
rmSync(join(folder, 'bruno'), { recursive: true, force: true })
for (const { path, text } of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
