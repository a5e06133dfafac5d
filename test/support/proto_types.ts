/** The messages and services of protos/, as protobufjs reads them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { projectRoot } from '../../src/base/project_root.js'

/** The names of members are those of the files, not in camel case. */
export function loadProtoTypes(): protobuf.Root {
  const folder = join(projectRoot(), 'protos')
  const root = new protobuf.Root()
  root.resolvePath = (_, file) => (file.startsWith('google/') ? file : join(folder, file))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return root.loadSync(files.filter((name) => name.endsWith('.proto')).sort(), { keepCase: true })
}
