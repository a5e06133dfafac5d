/**
 * The type of an operator command, and how a command fails.
 *
 * - A command returns a value for machines (`--json`) and lines for people; main prints one.
 * - A usage error is a CommandFault: main prints its message and exits with 2.
 * - A command reads only the options it declares, and `--json`. `--shard` is read before it runs.
 */
import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import type { Settings } from '../../settings/settings.js'
import type { OperatorAccess } from '../calls/calls.js'
import { CommandFault } from '../calls/command_fault.js'
import type { OperatorClients } from '../calls/operator_client.js'
import type { Flags, Option } from './options.js'
import type { Sandbox } from '../calls/sandbox.js'
import type { Paint } from './terminal.js'

export { CommandFault }

/** @throws CommandFault unless `text` is one of the choices */
export function choiceOf(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw new CommandFault(`${text} is not one of: ${choices.join(', ')}.`)
}

/** @throws CommandFault when the file cannot be read */
export function bytesIn(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CommandFault(error instanceof Error ? error.message : String(error))
  }
}

export interface Context extends OperatorClients {
  /** Reading it throws CommandFault on a machine without the stack. */
  readonly sandbox: Sandbox
  readonly access: OperatorAccess
  readonly clock: Clock
  /** The folder of this machine's logs, which may not exist. */
  readonly logs: string
  readonly paint: Paint
  /** The standard output, for lines that are printed while the command runs. */
  readonly out: Writable
  /** Writes a line to the standard error while the command runs. */
  tell(line: string): void
  readonly flags: Flags
  /**
   * Writes the lines and asks the question, unless the command line has `--yes`.
   * @throws Error unless it is answered with yes, CommandFault in a script
   */
  confirm(lines: readonly string[], question: string): Promise<void>
  /** True when this stack serves production hosts, or is on another machine. */
  readonly servesProduction: boolean
}

export interface Report {
  readonly value: object
  readonly lines: readonly string[]
  /** Default 0. */
  readonly exitCode?: number
  /** Standard output carries data: print the report on standard error. */
  readonly isAside?: boolean
}

interface Spec {
  /** Command words, then arguments: `deposit PARTNER ENV CUR AMOUNT`. */
  readonly usage: string
  readonly about: string
  /** Besides `--json`. */
  readonly options?: readonly Option[]
}

/** A command that calls the running stack. */
export interface CliCommand extends Spec {
  run(context: Context, args: readonly string[]): Promise<Report>
}

/** A command that needs no running stack. */
export interface LocalCommand extends Spec {
  runLocally(
    paint: Paint,
    settings: () => Settings,
    given: { readonly args: readonly string[]; readonly flags: Flags; readonly out: Writable },
  ): Report | Promise<Report>
}

export type AnyCommand = CliCommand | LocalCommand
