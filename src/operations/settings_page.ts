/**
 * Generates `src/SETTINGS.md` and `.env.example` from the settings in the code (`make settings`);
 * a test checks that both are current.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'
import { SETTINGS, type SettingName } from '../settings/settings.js'
import { SETTINGS_GROUPS } from '../settings/settings_groups.js'

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const settingRow = (name: SettingName): string => {
  const { fallback, allowed, about } = SETTINGS[name]
  return row([`\`${name}\``, fallback === '' ? '' : `\`${fallback}\``, allowed, about])
}

export const settingsPage = (): string =>
  [
    '# Settings',
    '',
    'Set them in the environment or in `.env` (start from `.env.example`). An invalid value stops',
    'the start and prints the allowed ones; so does an unknown name in `.env`. In the environment',
    'a name that is close to a setting (`DATADIR`) has no effect; one line at the start names it,',
    'and `doctor` does. `make ops ARGS="config show"` prints the values in use. `DOT_ENV=FILE`',
    'names another file than `.env`; without it nothing starts. This page is generated from',
    '`src/settings/settings.ts` by `make settings`.',
    ...Object.entries(SETTINGS_GROUPS).flatMap(([group, names]) => [
      '',
      `## ${group}`,
      '',
      row(['name', 'default', 'allowed', 'meaning']),
      '|---|---|---|---|',
      ...names.map(settingRow),
    ]),
    '',
    '## What depends on what',
    '',
    '- `WEBHOOK_ALLOW_PRIVATE`: under `make run` it is `true` unless set, while `HTTP_HOST` is',
    '  loopback, the host lists are the defaults and `TRUSTED_PROXIES` is empty: receivers on your',
    '  own machine work at once.',
    '- While neither `SANDBOX_HOSTS` nor `PRODUCTION_HOSTS` is set, every host name is the',
    '  sandbox. After that an unknown host is a 404, the address `127.0.0.1` too.',
    '- Two stacks run side by side when their ports and `DATA_DIR` differ.',
    '- Port 0 takes a free port.',
    '',
  ].join('\n')

export const envExample = (): string =>
  [
    '# Copy to .env and change what differs; src/SETTINGS.md says what each setting means.',
    ...Object.entries(SETTINGS_GROUPS).flatMap(([group, names]) => [
      '',
      `# ${group}`,
      ...names.map((name) => `#${name}=${SETTINGS[name].fallback}`),
    ]),
    '',
  ].join('\n')

if (process.argv[2] === 'write') {
  writeFileSync(join(projectRoot(), 'src/SETTINGS.md'), settingsPage())
  writeFileSync(join(projectRoot(), '.env.example'), envExample())
}
