/**
 * What a command of the operator CLI is.
 *
 * - A command answers with a value for machines (`--json`) and with lines for people; main prints
 *   one of them.
 * - What an operator did wrong is a CommandFault: its sentence is printed, exit code 2.
 * - A command reads no option but those it names, and those of every command.
 */
import { readFileSync } from 'node:fs'
import type { Clock } from '../base/clock.js'
import type {
  OperatorClient,
  PartnerAdminClient,
  RecoveryClient,
  WebhookAdminClient,
} from './operator_client.js'
import type { Flags, Option } from './options.js'
import type { Sandbox } from './sandbox.js'
import type { Paint } from './terminal.js'

export class CommandFault extends Error {
  override name = 'CommandFault'
}

/** @throws CommandFault when it is none of them */
export function choiceOf(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw new CommandFault(`${text} is none of: ${choices.join(', ')}.`)
}

/** @throws CommandFault when the file cannot be read */
export function bytesIn(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CommandFault(error instanceof Error ? error.message : String(error))
  }
}

export interface Context {
  readonly sandbox: Sandbox
  readonly operator: OperatorClient
  readonly partners: PartnerAdminClient
  readonly webhooks: WebhookAdminClient
  readonly recovery: RecoveryClient
  readonly clock: Clock
  readonly paint: Paint
  readonly flags: Flags
  /** True when this stack serves production hosts. */
  readonly servesProduction: boolean
}

export interface Report {
  readonly value: object
  readonly lines: readonly string[]
  /** 0 unless given. */
  readonly exitCode?: number
  /** The standard output holds something else: the report goes to the error output. */
  readonly isAside?: boolean
}

interface Spec {
  /** The words that call it, then its arguments: `deposit PARTNER ENV CUR AMOUNT`. */
  readonly usage: string
  readonly about: string
  /** Those it takes beside the ones of every command. */
  readonly options?: readonly Option[]
}

/** A command that asks the running stack. */
export interface Command extends Spec {
  run(context: Context, args: readonly string[]): Promise<Report>
}

/** A command that needs no running stack. */
export interface LocalCommand extends Spec {
  runLocally(paint: Paint): Report
}

export type AnyCommand = Command | LocalCommand
