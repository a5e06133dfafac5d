/**
 * Stack traces that name lines of the sources instead of the compiled files.
 *
 * - A source map is read when a stack trace first names its file. With `--enable-source-maps` Node
 *   reads those of all modules, which is a fifth of the CPU time of a start.
 * - A file without a readable map keeps its compiled position.
 */
import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload, type SourceOrigin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMPILED = /((?:file:\/\/)?[^\s()]*\.build\/[^\s():]+\.js):(\d+):(\d+)/g

/** Call first: from then on, each error of this process has a stack trace of the sources. */
export function useSourcePositions(): void {
  Error.prepareStackTrace = (error, frames) =>
    inSources([headOf(error), ...frames.map(String)].join('\n    at '))
}

/** As Node's: its own errors show their code. Objects with a captured stack need no `toString`. */
const headOf = (error: object): string =>
  error instanceof Error ? String(error) : Error.prototype.toString.call(error)

/** The text with all positions in compiled files replaced; a relative path stays relative. */
export const inSources = (text: string): string =>
  text.replace(COMPILED, (position, path: string, line: string, column: string) => {
    const file = path.startsWith('file://') ? fileURLToPath(path) : path
    const origin: Partial<SourceOrigin> = mapOf(file)?.findOrigin(+line, +column) ?? {}
    const { fileName, lineNumber = line, columnNumber = column } = origin
    if (fileName === undefined) return position
    return `${join(dirname(file), fileName)}:${lineNumber}:${columnNumber}`
  })

const maps = new Map<string, SourceMap | undefined>()

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`))
  return maps.get(file)
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined // the text is shown as it is, whatever is wrong with the map
  }
}
