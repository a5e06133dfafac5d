/**
 * Generates the files that derive from the route table and the schemas: `make openapi`.
 *
 * Does not own: the recorded examples, which come from a real stack (record.ts, `make examples`).
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { generatedFiles } from './generated_files.js'

for (const { path, text } of await generatedFiles()) {
  writeFileSync(join(projectRoot(), path), text)
  console.log(path)
}
