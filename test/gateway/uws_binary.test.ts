/**
 * The native part of uWebSockets.js comes from one person's upload: what was examined is what must
 * run.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'

const EXAMINED: Readonly<Record<string, string>> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
}

const build = `${process.platform}_${process.arch}_${process.versions.modules}`

void t.test('the binary is the one that was examined', (t) => {
  const expected = EXAMINED[build]
  if (expected === undefined) return t.comment(`no binary was examined for ${build}`)
  const file = join(projectRoot(), 'node_modules', 'uWebSockets.js', `uws_${build}.node`)
  t.equal(createHash('sha256').update(readFileSync(file)).digest('hex'), expected)
  t.end()
})
