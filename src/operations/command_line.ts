/**
 * Parses the operator command line into a command with its arguments and options, or into help.
 *
 * - An option that the command does not declare is an error, because the operator expects it to
 *   have an effect.
 */
import { Argument, Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { CommandFault, type AnyCommand } from './cli/command.js'
import { isVisibleText, toVisibleText } from '../base/visible_text.js'
import { COMMANDS } from './commands.js'
import { OPTIONS, type Flags, type Option } from './cli/options.js'

export type Typed =
  | { readonly help: string }
  | { readonly command: AnyCommand; readonly args: readonly string[]; readonly flags: Flags }

const HELP_FOOTER = `
Every change: --reason TEXT (required for production).
Every command: --json for machines, --help; with several processors --shard SHARD.`

/** First words that several commands share, and that are no command themselves. */
const GROUPS: Readonly<Record<string, string>> = {
  partner: 'partners: create, list, suspend, restrict, monthly statement',
  key: 'signing keys of partners',
  callers: 'callers of the processor: operators, internal services, gateways, pools',
  approvals: 'changes that a second operator must approve',
  rates: 'exchange rates',
  routes: 'payout routes',
  submissions: 'submissions to the rails: pause, resume',
  payout: 'payouts: look up, review, resolve, reverse',
  payee: 'who else was paid to an account',
  intent: 'payment intents: look up, review, resolve',
  outcomes: 'instructions without a final outcome',
  discrepancy: 'differences between the rail and the ledger',
  'master-key': 'master keys and the secrets encrypted under them',
  system: 'what the processors run with',
  config: 'settings in force',
  production: 'whether something is dangerous in production',
  store: 'the database of the books: copy it to PostgreSQL',
  shard: 'shards of a cluster: owners, new ones, moves',
  settings: 'settings for all shards of a cluster',
  recovery: 'recovery mode after an older copy was restored, orphan executions',
  webhooks: 'webhook endpoints, deliveries and dead letters',
}

/** @throws CommandFault for an unknown command, option or argument */
export function readCommandLine(words: readonly string[]): Typed {
  const { program, printed, chosen, failedAt } = createProgram()
  try {
    program.parse(words.length === 0 ? ['--help'] : [...words], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { help: printed() }
    if (error.code === 'commander.help') throw new CommandFault(printed())
    throw new CommandFault(`${error.message.replace(/^error: /, '')}\n${usageOf(failedAt())}`)
  }
  const found = chosen()
  if (found === undefined) throw new CommandFault(program.helpInformation())
  return found
}

function createProgram(): {
  readonly program: Program
  printed(): string
  chosen(): Typed | undefined
  /** The command at which parsing failed. */
  failedAt(): Program
} {
  let text = ''
  let chosen: Typed | undefined
  let last: Program
  const configure = (program: Program): Program =>
    program
      .enablePositionalOptions() // those of `deposit correct` are not those of `deposit`
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
  const program = configure(new Program('make ops ARGS="…"'))
    .usage('COMMAND')
    .description('Commands for operators of the running stack.')
    .helpCommand('help [command]', 'help for a command')
    .addHelpText('after', HELP_FOOTER)
  const groups = new Map<string, Program>()
  for (const command of COMMANDS) {
    const names = namesOf(command)
    const name = names.at(-1) ?? ''
    const [first = ''] = names
    const parent = names.length === 1 ? program : groupOf(program, groups, first, configure)
    const leaf = configure(parent.command(name)).description(command.about)
    if (names.length === 1) groups.set(name, leaf.helpCommand(false))
    for (const part of argumentsOf(command)) leaf.addArgument(part)
    const everywhere = 'run' in command ? (['shard', 'json'] as const) : (['json'] as const)
    const options = [...(command.options ?? []), ...everywhere]
    for (const option of options) leaf.addOption(programOption(option))
    if (options.includes('until')) leaf.addOption(FORMER_UNTIL)
    leaf.action(() => {
      const args = leaf.processedArgs.filter((arg: unknown) => typeof arg === 'string')
      args.forEach(requireTyped)
      const flags = flagsIn(leaf)
      requireValues(flags)
      chosen = { command, args, flags }
    })
  }
  return { program, printed: () => text.trimEnd(), chosen: () => chosen, failedAt: () => last }
}

function usageOf(program: Program): string {
  const names: string[] = []
  for (let at: Program | null = program; at?.parent; at = at.parent) names.unshift(at.name())
  return ['usage:', ...names, program.usage()].join(' ')
}

function groupOf(
  program: Program,
  groups: Map<string, Program>,
  name: string,
  configure: (program: Program) => Program,
): Program {
  let group = groups.get(name)
  if (group === undefined) {
    group = configure(program.command(name)).description(GROUPS[name] ?? '')
    groups.set(name, group)
  }
  return group
}

const namesOf = ({ usage }: AnyCommand): string[] =>
  usage.split(' ').filter((part) => /^[a-z-]+$/.test(part))

/** `NAME` is required, `[NAME]` is optional. */
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

/** Scripts of earlier versions end a period with `--to`. */
const FORMER_UNTIL = new ProgramOption('--to <DAY>').hideHelp()

/** A pasted id can bring blanks or invisible characters: with them it is an id that nothing has. */
function requireTyped(arg: string): void {
  if (arg === '') throw new CommandFault('An argument is empty.')
  if (isVisibleText(arg) && arg.trim() === arg) return
  throw new CommandFault(`'${toVisibleText(arg)}' has blanks around it or invisible characters.`)
}

/** As of a variable of a script that is not set: a filter without a value would be none. */
function requireValues(flags: Flags): void {
  for (const [name, value] of Object.entries(flags))
    if ([value].flat().includes('')) throw new CommandFault(`--${name} is empty.`)
}

/** Values by our option names; commander uses camel case. */
function flagsIn(leaf: Program): Flags {
  const given: Record<string, unknown> = {}
  for (const option of leaf.options) {
    const value: unknown = leaf.getOptionValue(option.attributeName())
    const name = (option.long ?? '').slice(2)
    // `--no-x` sets the value of `--x`, where there is one, to false.
    if (option.negate) {
      if (value === false) given[name] = true
    } else if (option === FORMER_UNTIL) given.until ??= value
    else if (value !== undefined && value !== false) given[name] = value
  }
  return given
}
