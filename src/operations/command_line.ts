/**
 * The operator's command line: words to a command with its arguments and options, or help.
 *
 * Owns: building commander's program from the list of commands. Does not own: the commands, the
 * options (options).
 *
 * - An option that the command does not read is refused: it was meant to change something and
 *   would not.
 */
import { Argument, Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { CommandFault, type AnyCommand } from './command.js'
import { COMMANDS } from './commands.js'
import { OPTIONS, type Flags, type Option } from './options.js'

export type Typed =
  | { readonly help: string }
  | { readonly command: AnyCommand; readonly args: readonly string[]; readonly flags: Flags }

const HELP_FOOTER = `
Every change: --as NAME --reason TEXT (required for production).
Every command: --json for machines, --help.`

/** Commands whose first word stands for a group of commands. */
const GROUPS: Readonly<Record<string, string>> = {
  partner: 'partners: create, list, suspend, what they may do',
  key: 'signing keys of partners',
  rates: 'exchange rates',
  routes: 'payout routes',
  payout: 'payouts: look up, review, resolve, reverse',
  intent: 'payment intents: look up, review, resolve',
  unknown: 'instructions without a final outcome',
  discrepancy: 'differences between the rail and the ledger',
  'master-key': 'master keys and what is encrypted under them',
  config: 'settings in force',
  recovery: 'recovery mode after an older copy was restored, orphan executions',
  webhooks: 'webhook endpoints, deliveries and dead letters',
}

/** @throws CommandFault when it is not one of our commands, or not used as its help says */
export function readCommandLine(typed: readonly string[]): Typed {
  const { program, printed, chosen, refusedBy } = createProgram()
  try {
    program.parse(typed.length === 0 ? ['--help'] : [...typed], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { help: printed() }
    if (error.code === 'commander.help') throw new CommandFault(printed())
    throw new CommandFault(`${error.message.replace(/^error: /, '')}\n${usageOf(refusedBy())}`)
  }
  const found = chosen()
  if (found === undefined) throw new CommandFault(program.helpInformation())
  return found
}

function createProgram(): {
  readonly program: Program
  printed(): string
  chosen(): Typed | undefined
  /** The command at which reading ended. */
  refusedBy(): Program
} {
  let text = ''
  let chosen: Typed | undefined
  let last: Program
  const settle = (program: Program): Program =>
    program
      .exitOverride((error) => {
        last = program
        throw error
      })
      .configureOutput({
        writeOut: (part) => (text += part),
        writeErr: (part) => (text += part),
        outputError: () => undefined,
        getOutHelpWidth: () => 100,
        getErrHelpWidth: () => 100,
      })
      .configureHelp({ showGlobalOptions: false })
      .helpOption('-h, --help', 'this help')
  const program = settle(new Program('make ops ARGS="…"'))
    .usage('COMMAND')
    .description('Commands for operators of the running stack.')
    .helpCommand('help [command]', 'help for a command')
    .addHelpText('after', HELP_FOOTER)
  const groups = new Map<string, Program>()
  for (const command of COMMANDS) {
    const names = namesOf(command)
    const name = names.at(-1) ?? ''
    const [first = ''] = names
    const parent = names.length === 1 ? program : batchOf(program, groups, first, settle)
    const leaf = settle(parent.command(name)).description(command.about)
    for (const part of argumentsOf(command)) leaf.addArgument(part)
    const options = [...(command.options ?? []), 'json'] as const
    for (const option of options) leaf.addOption(programOption(option))
    leaf.action(() => {
      const args = leaf.processedArgs.filter((arg: unknown) => typeof arg === 'string')
      chosen = { command, args, flags: flagsIn(leaf) }
    })
  }
  return { program, printed: () => text.trimEnd(), chosen: () => chosen, refusedBy: () => last }
}

function usageOf(program: Program): string {
  const names: string[] = []
  for (let at: Program | null = program; at?.parent; at = at.parent) names.unshift(at.name())
  return ['usage:', ...names, program.usage()].join(' ')
}

function batchOf(
  program: Program,
  groups: Map<string, Program>,
  name: string,
  settle: (program: Program) => Program,
): Program {
  let group = groups.get(name)
  if (group === undefined) {
    group = settle(program.command(name)).description(GROUPS[name] ?? '')
    groups.set(name, group)
  }
  return group
}

const namesOf = ({ usage }: AnyCommand): string[] =>
  usage.split(' ').filter((part) => /^[a-z-]+$/.test(part))

/** `NAME` must be given, `[NAME]` may be. */
const argumentsOf = ({ usage }: AnyCommand): Argument[] =>
  usage
    .split(' ')
    .filter((part) => !/^[a-z-]+$/.test(part))
    .map((part) => new Argument(part.startsWith('[') ? part : `<${part}>`))

function programOption(name: Option): ProgramOption {
  const spec: { value?: string; about: string; many?: boolean } = OPTIONS[name]
  const flags = spec.value === undefined ? `--${name}` : `--${name} <${spec.value}>`
  const option = new ProgramOption(flags, spec.about)
  if (spec.many === true) option.argParser((text, before: string[] = []) => [...before, text])
  return option
}

/** What was given, under the names of our options; commander has its own spelling. */
function flagsIn(leaf: Program): Flags {
  const given: Record<string, unknown> = {}
  for (const option of leaf.options) {
    const value: unknown = leaf.getOptionValue(option.attributeName())
    const name = (option.long ?? '').slice(2)
    // `--no-x` sets the value of `--x`, where there is one, to false.
    if (option.negate) {
      if (value === false) given[name] = true
    } else if (value !== undefined && value !== false) given[name] = value
  }
  return given
}
