/**
 * Asks a person before a command does what cannot be taken back.
 *
 * - `--yes` answers in advance, for scripts. Without it a command in a script changes nothing.
 * - With `--json` the standard output is one JSON value, so everything else is on standard error.
 */
import { createInterface } from 'node:readline/promises'
import { toVisibleText } from '../../base/visible_text.js'
import { CommandFault } from './command.js'
import type { Flags } from './options.js'
import { terminalText, type Output } from './terminal.js'

/** @throws Error unless it is answered with yes, CommandFault in a script */
export async function confirmed(
  lines: readonly string[],
  question: string,
  { yes, json }: Flags,
  { terminal, out, err }: Pick<Output, 'terminal' | 'out' | 'err'>,
): Promise<void> {
  const shown = json === true ? err : out
  if (lines.length > 0) shown.write(`${terminalText(lines)}\n`)
  if (yes === true) return
  if (terminal === undefined) {
    throw new CommandFault(`${question} Nothing was changed: confirm with --yes.`)
  }
  const asking = createInterface({ input: terminal, output: shown })
  const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  const answer = await Promise.race([
    asking.question(`${toVisibleText(question)} [yes/no] `),
    ended,
  ])
  asking.close()
  if (answer.trim().toLowerCase() !== 'yes') throw new Error('Nothing was changed.')
}
