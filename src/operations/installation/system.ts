/** `system show`: what the processors run with. */
import type { ProcessorState__Output as ProcessorState } from '../../../protos/types/causeway/operator/v1/ProcessorState.js'
import type { CliCommand } from '../cli/command.js'
import { table } from '../cli/terminal.js'

export const systemShow: CliCommand = {
  usage: 'system show',
  about: 'version, migrations, settings and newest backup of the processors, secrets masked',
  run: async ({ operator, paint }) => {
    const found = await operator.call('ShowSystem', {})
    return {
      value: found,
      lines: found.data.flatMap((state, i) => [
        ...(i === 0 ? [] : ['']),
        ...linesOf(state, (text) => paint('strong', text)),
      ]),
    }
  },
}

function linesOf(state: ProcessorState, strong: (text: string) => string): readonly string[] {
  const { migrations, last_backup: backup } = state
  return [
    strong(state.shard === '' ? 'processor' : `processor of ${state.shard}`),
    table(
      [
        ['  version', state.version],
        ['  started', state.started_at],
        ['  store', state.store],
        ['  migrations', `${migrations.length}, newest ${migrations.at(-1) ?? 'none'}`],
        ['  newest backup', backup ? `${backup.snapshot_at} in ${backup.folder}` : 'none'],
      ],
      [],
    ),
    strong('settings'),
    table(
      state.settings.map(({ name, value, is_default: isDefault }) => [
        ...[`  ${name}`, value, isDefault ? 'default' : 'set'],
      ]),
      [],
    ),
  ]
}
