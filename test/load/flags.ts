/**
 * Flags of the load tool.
 *
 * Owns: reading and bounding them. Does not own: what they mean to a command.
 */
import { parseArgs } from 'node:util'
import { isScenario, SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'

export class UsageError extends Error {
  override name = 'UsageError'
}

export interface Flags {
  readonly command: string
  has(name: string): boolean
  text(name: string): string | undefined
  whole(name: string, fallback: number, max: number): number
  /** Undefined when it is not given. */
  wholeIfGiven(name: string, max: number): number | undefined
  scenarios(fallback: readonly ScenarioName[]): readonly ScenarioName[]
}

/** @param values names of flags that take a value; @param switches of those that take none */
export function readFlags(
  given: readonly string[],
  values: readonly string[],
  switches: readonly string[],
): Flags {
  const { texts, command } = parsed(given, values, switches)
  const text = (name: string): string | undefined => {
    const value = texts[name]
    return typeof value === 'string' ? value : undefined
  }
  const wholeIfGiven = (name: string, max: number): number | undefined => {
    const value = text(name)
    return value === undefined ? undefined : whole(name, value, max)
  }
  return {
    command,
    has: (name) => texts[name] === true,
    text,
    whole: (name, fallback, max) => wholeIfGiven(name, max) ?? fallback,
    wholeIfGiven,
    scenarios: (fallback) => {
      const names = text('scenario')?.split(',') ?? fallback
      return names.map((name) => {
        if (isScenario(name)) return name
        throw new UsageError(`--scenario is of ${Object.keys(SCENARIOS).join(', ')}, not ${name}`)
      })
    },
  }
}

function parsed(
  given: readonly string[],
  values: readonly string[],
  switches: readonly string[],
): { readonly texts: Readonly<Record<string, unknown>>; readonly command: string } {
  const options = Object.fromEntries([
    ...values.map((name) => [name, { type: 'string' as const }]),
    ...switches.map((name) => [name, { type: 'boolean' as const }]),
  ]) as Record<string, { type: 'string' | 'boolean' }>
  try {
    const read = parseArgs({ args: [...given], allowPositionals: true, options })
    return { texts: read.values, command: read.positionals.join(' ') }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function whole(flag: string, text: string, max: number): number {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= max) return value
  throw new UsageError(`--${flag} is a whole number from 1 to ${max}, not ${text}`)
}
