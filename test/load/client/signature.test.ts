import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../../src/base/protos.js'
import { createSigner, type Unsigned } from './signature.js'

interface Vectors {
  readonly vectors: readonly (Unsigned & {
    readonly name: string
    readonly secret: string
    readonly signature: string
  })[]
}

const file = join(projectRoot(), 'test/golden/signatures.json')
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as Vectors

t.ok(vectors.length > 0)
for (const { name, secret, signature, ...request } of vectors) {
  t.equal(createSigner(secret)(request), signature, name)
}
