/** `config show`: the effective settings and the source of each. Needs no running stack. */
import { readEnvironment } from '../../supervisor/environment.js'
import { SETTINGS, type SettingName } from '../../settings/settings.js'
import { settingSource, withoutSecrets } from '../../settings/settings_reader.js'
import { SETTINGS_GROUPS } from '../../settings/settings_groups.js'
import type { LocalCommand, Report } from '../cli/command.js'
import { table } from '../cli/terminal.js'

export const configShow: LocalCommand = {
  usage: 'config show',
  about: 'effective settings and the source of each, secrets masked',
  runLocally: (paint) => {
    const { settings } = readEnvironment()
    const shown = (name: SettingName): readonly [string, string, string] => [
      name,
      withoutSecrets(name, String(settings[name])),
      settingSource(name),
    ]
    const lines = Object.entries(SETTINGS_GROUPS).flatMap(([group, names]) => [
      '',
      paint('strong', group),
      table(
        names.map((name) => shown(name).map((cell, i) => (i === 0 ? `  ${cell}` : cell))),
        [],
      ),
    ])
    const names = Object.keys(SETTINGS) as SettingName[]
    const value = Object.fromEntries(
      names.map((name) => [name, { value: shown(name)[1], source: shown(name)[2] }]),
    )
    return { value, lines: lines.slice(1) } satisfies Report
  },
}
