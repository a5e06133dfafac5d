/**
 * The committed OpenAPI document as a gateway serves it: with the brand in the header names.
 *
 * Does not own: making the document (document.ts, `make openapi`).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { staticFile, type StaticFile } from '../http/static_file.js'

export const DOCUMENT_FILE = 'gateway/openapi.json'

/** Called once per process. A client that has the document asks whether it is current. */
export const documentFile = (brand: string): StaticFile =>
  staticFile(Buffer.from(servedDocument(brand)), [
    ['Content-Type', 'application/json'],
    ['Cache-Control', 'no-cache'],
  ])

export function servedDocument(brand: string): string {
  const committed = readFileSync(join(projectRoot(), DOCUMENT_FILE), 'utf8')
  const compact = JSON.stringify(JSON.parse(committed))
  if (brand === 'Service') return compact
  return compact
    .replaceAll('X-Service-', `X-${brand}-`)
    .replaceAll('"service":', `${JSON.stringify(brand.toLowerCase())}:`)
}
