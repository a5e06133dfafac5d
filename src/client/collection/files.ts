/** The generated files of the collection, as text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brunoFiles, type CollectionScripts, type TextFile } from './bruno.js'
import { requestsOf, type OpenApiDocument } from './operations.js'
import { postmanFile } from './postman.js'

const OPEN_API = 'gateway/openapi.json'
/** From the project's root. */
export const COLLECTION_FOLDER = 'src/client/collection'

/** @param root the project's root */
export function collectionFiles(root: string): readonly TextFile[] {
  const document = JSON.parse(readFileSync(join(root, OPEN_API), 'utf8')) as OpenApiDocument
  const requests = requestsOf(document)
  const { title } = document.info
  return [
    ...brunoFiles(title, requests, scriptsOf(root, 'bruno')).map(({ path, text }) => ({
      path: `bruno/${path}`,
      text,
    })),
    postmanFile(title, requests, scriptsOf(root, 'postman')),
  ]
}

export function scriptsOf(root: string, tool: 'bruno' | 'postman'): CollectionScripts {
  const read = (name: string): string =>
    readFileSync(join(root, COLLECTION_FOLDER, 'scripts', name), 'utf8')
  const whole = (name: string): string =>
    read(name).replaceAll(/^\/\/ include (\S+)\n/gm, (_line, part: string) => read(part))
  return { beforeRequest: whole(`${tool}_sign.js`), afterAnswer: whole(`${tool}_variables.js`) }
}
