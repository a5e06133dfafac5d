/** A log line for people (LOG_FORMAT=pretty): one line, and the stack of an exception below it. */

import { toVisibleText } from './visible_text.js'

interface LogRecord {
  readonly time: string
  readonly level: string
  readonly process: string
  readonly message?: string
  readonly error?: { readonly message: string; readonly stack?: string }
}

const LEVEL_WIDTH = 5

/** `2026-11-22 14:05:09.123 INFO  gateway: serving port=8080` */
export function prettyLine(line: string): string {
  const { time, level, process, message = '', error, ...fields } = JSON.parse(line) as LogRecord
  const at = time.replace('T', ' ').replace('Z', '')
  const head = `${at} ${level.toUpperCase().padEnd(LEVEL_WIDTH)} ${process}: ${message}`
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`)
  const first = [head, ...(error === undefined ? [] : [`(${error.message})`]), ...pairs].join(' ')
  return [toVisibleText(first), ...stackLines(error?.stack)].join('\n') + '\n'
}

/** Text without spaces stays bare; everything else is JSON. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)

const stackLines = (stack: string | undefined): readonly string[] =>
  stack
    ?.split('\n')
    .filter((line) => /^ +at /.test(line))
    .map(toVisibleText) ?? []
