/**
 * The options of a program, read by commander: `--help`, mistakes and exit codes are alike in all.
 *
 * - A wrong option ends the process with exit code 2, before anything has begun.
 */
import { Command, InvalidArgumentError, Option } from 'commander'

const EXIT_USAGE = 2

export interface OptionSpec {
  readonly about: string
  /** Placeholder of its value; an option without one is a switch. */
  readonly value?: string
  readonly kind?: 'text' | 'number'
  readonly required?: true
  readonly fallback?: string | number
}

type ValueOf<Spec extends OptionSpec> = Spec extends { value: string }
  ? | (Spec extends { kind: 'number' } ? number : string)
    | (Spec extends { required: true } | { fallback: string | number } ? never : undefined)
  : boolean

export type ProgramOptions<Specs extends Record<string, OptionSpec>> = {
  readonly [Name in keyof Specs]: ValueOf<Specs[Name]>
}

/** @param specs by the names of the members that hold the values: `dataDir` is `--data-dir` */
export function programOptions<const Specs extends Record<string, OptionSpec>>(
  name: string,
  about: string,
  specs: Specs,
): ProgramOptions<Specs> {
  const program = new Command(name)
    .description(about)
    .allowExcessArguments(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
  for (const [member, spec] of Object.entries(specs)) program.addOption(optionOf(member, spec))
  return program.parse().opts()
}

function optionOf(member: string, spec: OptionSpec): Option {
  const { about, value, kind, required, fallback } = spec
  const flag = `--${member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const option = new Option(value === undefined ? flag : `${flag} <${value}>`, about)
  if (kind === 'number') option.argParser(numberIn)
  if (value === undefined) option.default(false)
  else if (fallback !== undefined) option.default(fallback)
  if (required === true) option.makeOptionMandatory()
  return option
}

function numberIn(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a number.')
}
