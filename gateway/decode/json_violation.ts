/**
 * Field and rule of a text that the strict JSON parser rejects (json.ts).
 *
 * - Runs only for rejected texts. It takes the text apart again, because the parser of accepted
 *   ones does not keep the path to each value.
 * - A text that is not clean goes before a name that is not allowed, as over gRPC, which checks all
 *   texts of a message first.
 */
import { JSON_DEPTH_MAX } from '../../src/base/constants.js'
import type { Violation } from '../../src/base/errors.js'
import { CLEAN_TEXT_RULE, isCleanText } from '../../src/base/text.js'
import { isAllowedName, NAME_RULE, violationAt } from '../../src/api/checks/schema_violation.js'

/** An open object or list. */
interface Frame {
  /** Undefined in a list. */
  readonly names: Set<string> | undefined
  /** The current member or item. */
  at: string | number
  isNameNext: boolean
}

/** A string, a bracket or comma, or any other value. Colons and blanks are skipped. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/g
const INTEGER = /^-?[0-9]+$/

export function jsonViolation(text: string): Violation {
  if (!isJson(text)) return { pointer: '', rule: 'must be JSON' }
  const frames: Frame[] = []
  let forbiddenName: Violation | undefined
  for (const [token] of text.matchAll(TOKEN)) {
    const rule = ruleBrokenBy(token, frames)
    if (rule === undefined) continue
    const violation = violationAt(pathOf(frames), rule)
    if (rule === CLEAN_TEXT_RULE) return violation
    if (rule !== NAME_RULE) return forbiddenName ?? violation
    forbiddenName ??= violation
  }
  return forbiddenName ?? { pointer: '', rule: 'is not valid' }
}

/** Reads one token. @returns the rule that it breaks at the field that `frames` then names */
function ruleBrokenBy(token: string, frames: Frame[]): string | undefined {
  const frame = frames.at(-1)
  switch (token[0]) {
    case '{':
    case '[': {
      const isObject = token === '{'
      const names = isObject ? new Set<string>() : undefined
      frames.push({ names, at: isObject ? '' : 0, isNameNext: isObject })
      return frames.length > JSON_DEPTH_MAX
        ? `must be nested at most ${JSON_DEPTH_MAX} deep`
        : undefined
    }
    case '}':
    case ']':
      frames.pop()
      return undefined
    case ',':
      if (typeof frame?.at === 'number') frame.at += 1
      else if (frame !== undefined) frame.isNameNext = true
      return undefined
    case '"':
      return textRule(JSON.parse(token) as string, frame)
    default:
      return /^-?[0-9]/.test(token) && !INTEGER.test(token)
        ? 'must be an integer, without fraction and exponent'
        : undefined
  }
}

function textRule(text: string, frame: Frame | undefined): string | undefined {
  const isName = frame?.isNameNext === true
  if (isName) {
    frame.at = text
    frame.isNameNext = false
  }
  if (!isCleanText(text)) return CLEAN_TEXT_RULE
  if (!isName) return undefined
  if (!isAllowedName(text)) return NAME_RULE
  if (frame.names?.has(text) === true) return 'must not be repeated'
  frame.names?.add(text)
  return undefined
}

/** The outermost frames suffice to find a field. */
const pathOf = (frames: readonly Frame[]): readonly string[] =>
  frames.slice(0, JSON_DEPTH_MAX).map(({ at }) => String(at))

/** One character of a text, written as an escape. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/g

/** With each escape as a plain character, so that no name with a backslash is parsed (json.ts). */
function isJson(text: string): boolean {
  try {
    JSON.parse(text.replaceAll(ESCAPE, '_'))
    return true
  } catch {
    return false
  }
}
