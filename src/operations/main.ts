/** The operator CLI: `make ops ARGS="…"`, against the stack of DATA_DIR. */
import { readSettings } from '../settings/settings_reader.js'
import { useSourcePositions } from '../process/source_positions.js'
import { runOperatorCli } from './operator_cli.js'
import { paintFor } from './cli/terminal.js'

useSourcePositions()
process.exitCode = await runOperatorCli(process.argv.slice(2), readSettings, {
  paint: paintFor(process.stdout),
  out: process.stdout,
  err: process.stderr,
  ...(process.stdin.isTTY ? { terminal: process.stdin } : {}),
})
// A connection to a processor that does not answer can stay open for minutes, so exit once the
// output is written.
process.stdout.write('', () => {
  const { errored } = process.stdout
  const isWhole = errored === null || isByReader(errored)
  if (!isWhole) process.exitCode = 1
  const message = isWhole ? '' : `The output is not whole: ${errored.message}\n`
  process.stderr.write(message, () => process.exit())
})

/** As by `head`: the reader has what it wants. A full disk is another matter for a script. */
function isByReader(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE'
}
