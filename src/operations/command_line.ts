/**
 * What was typed: a command with its arguments and options, or a question for help.
 *
 * Owns: how words become a command, what is told when they do not. Does not own: the commands, the
 * options (options).
 *
 * L1. An option that the command does not read is refused: it was meant to change something, and
 *     would not.
 */
import { parseArgs } from 'node:util'
import { CommandFault, type Command } from './command.js'
import { COMMANDS } from './commands.js'
import { OPTIONS, type Flags, type Option } from './options.js'
import { table } from './terminal.js'

export type Typed =
  | { readonly help: string }
  | { readonly command: Command; readonly args: readonly string[]; readonly flags: Flags }

/** @throws CommandFault when it is none of our commands, or not as it is used */
export function readCommandLine(typed: readonly string[]): Typed {
  const { flags, words } = parsed(typed)
  if (words.length === 0) return { help: usage(COMMANDS) }
  if (words[0] === 'help') return { help: usage(commandsUnder(words.slice(1))) }
  if (flags.help === true) return { help: usage(commandsUnder(words)) }
  const { command, args } = find(words)
  checkOptions(command, flags)
  return { command, args, flags }
}

function parsed(typed: readonly string[]): { flags: Flags; words: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...typed],
      options: OPTIONS,
      allowPositionals: true,
    })
    return { flags: values, words: positionals }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // What follows is Node's advice on words that begin with a hyphen.
    const [fault = ''] = error.message.split('. To specify', 1)
    throw new CommandFault(`${fault}. See --help.`)
  }
}

/** The command whose words come first, with as many arguments as its usage asks for. */
function find(words: readonly string[]): { command: Command; args: readonly string[] } {
  for (const command of COMMANDS) {
    const parts = command.usage.split(' ')
    const names = namesOf(command)
    if (!names.every((name, i) => words[i] === name)) continue
    const args = words.slice(names.length)
    const most = parts.length - names.length
    const least = parts.filter((part) => /^[A-Z_]+$/.test(part)).length
    if (args.length >= least && args.length <= most) return { command, args }
    throw new CommandFault(usageOf(command))
  }
  throw new CommandFault(
    `There is no command "${words.join(' ')}".\n\n${usage(commandsUnder(words))}`,
  )
}

function checkOptions(command: Command, flags: Flags): void {
  const taken = optionsOf(command)
  const stray = (Object.keys(flags) as Option[]).find((option) => !taken.includes(option))
  if (stray === undefined) return
  throw new CommandFault(`This command takes no --${stray}.\n${usageOf(command)}`)
}

const usageOf = (command: Command): string =>
  ['usage:', command.usage, ...optionsOf(command).map((option) => `[--${option}]`)].join(' ')

const optionsOf = ({ options = [] }: Command): readonly Option[] => [...options, 'json']

const namesOf = ({ usage }: Command): string[] =>
  usage.split(' ').filter((part) => /^[a-z-]+$/.test(part))

/** Those that begin with as many of the words as any does. */
function commandsUnder(words: readonly string[]): readonly Command[] {
  for (let length = words.length; length > 0; length -= 1) {
    const first = words.slice(0, length)
    const under = COMMANDS.filter((command) => {
      const names = namesOf(command)
      return first.every((word, i) => word === names[i])
    })
    if (under.length > 0) return under
  }
  return COMMANDS
}

const usage = (commands: readonly Command[]): string =>
  [
    'usage: make ops ARGS="COMMAND …"',
    '',
    table(
      commands.map((command) => [`  ${command.usage}`, command.about]),
      [],
    ),
    '',
    'Every change: --as NAME --reason TEXT (must be given for production).',
    'Every command: --json for machines, --help.',
  ].join('\n')
