/**
 * Every message of the switch, as it is on the wire, in a file for people.
 *
 * - The file has accounts and names: it is for trials, and only our user can read it. A full
 *   one is renamed, and replaces the one before.
 */
import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs'

const OWNER_ONLY = 0o600
const BYTES_MAX = 10_000_000

/** @param timeOf the present moment as text */
export function openMessageFile(file: string, timeOf: () => string) {
  return (direction: 'received' | 'sent', body: Uint8Array): void => {
    if (existsSync(file) && statSync(file).size > BYTES_MAX) renameSync(file, `${file}.1`)
    const text = `${timeOf()} ${direction}\n${indented(Buffer.from(body).toString())}\n\n`
    appendFileSync(file, text, { mode: OWNER_ONLY })
  }
}

/** An element a line; one with text stays on its line. */
function indented(xml: string): string {
  let depth = 0
  return xml
    .replaceAll(/>\s*</g, '>\n<')
    .split('\n')
    .map((line) => {
      const isEnd = line.startsWith('</')
      if (isEnd) depth--
      const text = '  '.repeat(Math.max(depth, 0)) + line
      const opens = /^<[^/?]/.test(line) && !line.includes('</') && !line.endsWith('/>')
      if (opens) depth++
      return text
    })
    .join('\n')
}
