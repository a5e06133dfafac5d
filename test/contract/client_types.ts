/**
 * The types of the TypeScript client, made from the schemas of the document by openapi-typescript.
 *
 * - The tool runs as a program, so no code here compiles against it.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Schema } from '../../src/api/schema.js'
import { projectRoot } from '../../src/base/project_root.js'

const run = promisify(execFile)
const FLAGS = ['--immutable', '--root-types', '--root-types-no-schema-prefix']
const WIDTH_MAX = 100
const HEADER =
  '/** Types of requests and answers, made from gateway/openapi.json by `make openapi`. */\n'

export interface TypedDocument {
  readonly openapi: string
  readonly info: object
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The source text, before the formatter. */
export async function clientTypes({ openapi, info, components }: TypedDocument): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-types-'))
  try {
    // Errors are thrown, and the client does not fetch the document.
    const { Error: _error, OpenApiDocument: _document, ...used } = components.schemas
    const schemas = { openapi, info, paths: {}, components: { schemas: used } }
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(schemas, withoutChoice))
    const tool = join(projectRoot(), 'node_modules/.bin/openapi-typescript')
    const { stdout } = await run(tool, [file, ...FLAGS], { maxBuffer: 2 ** 24 })
    return HEADER + typesIn(stdout)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A choice between required members has no form in a type of this tool. */
const withoutChoice = (name: string, value: unknown): unknown =>
  name === 'oneOf' && JSON.stringify(value).startsWith('[{"required"') ? undefined : value

/** Components and their names; not the empty paths and operations. */
function typesIn(made: string): string {
  const from = made.indexOf('export interface components')
  const to = made.indexOf('export type $defs')
  if (from < 0 || to < from) throw new Error('openapi-typescript makes another form')
  return withoutEnumTags(made.slice(from, to).replace(/^export /, ''))
}

/** The type shows that it is an enumeration; a comment of one line is closed on that line. */
const withoutEnumTags = (text: string): string =>
  text
    .replaceAll(' (enum property replaced by openapi-typescript)', '')
    .replace(/^ *\* @enum \{.*\n/gm, '')
    .replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')

/** Comments of at most the width of a line; the formatter leaves comments alone. */
export const withNarrowComments = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => (line.length > WIDTH_MAX ? narrowed(line) : [line]))
    .join('\n')

function narrowed(line: string): readonly string[] {
  const [, indent = '', opening, text = '', closing] =
    /^( *)(\/\*\*|\*) (.*?)( \*\/)?$/.exec(line) ?? []
  if (opening === undefined) return [line]
  const isWhole = opening === '/**'
  const prefix = isWhole ? `${indent} * ` : `${indent}* `
  const lines = [prefix]
  for (const word of text.split(' ')) {
    const last = lines.length - 1
    const joined = `${lines[last]}${lines[last] === prefix ? '' : ' '}${word}`
    if (joined.length > WIDTH_MAX && lines[last] !== prefix) lines.push(prefix + word)
    else lines[last] = joined
  }
  return isWhole && closing !== undefined ? [`${indent}/**`, ...lines, `${indent} */`] : lines
}
