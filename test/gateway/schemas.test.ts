/** Request schemas are valid JSON Schema 2020-12; the gateway does not check that at startup. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

const FOLDER = join(projectRoot(), '.build/src/api')
const ajv = new Ajv2020({ strict: true, validateFormats: false })

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.js'))) {
  t.test(file, async (t) => {
    const exported = (await import(join(FOLDER, file))) as Readonly<Record<string, unknown>>
    for (const [name, check] of Object.entries(exported)) {
      if (typeof check !== 'function' || !('schema' in check)) continue
      t.ok(ajv.validateSchema(check.schema as object), `${name}: ${ajv.errorsText()}`)
    }
  })
}

t.test('an invalid schema is found', async (t) => {
  t.notOk(ajv.validateSchema({ type: 'object', maxProperties: '1' }))
})
