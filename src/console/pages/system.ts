/** What runs: processes, versions, migrations, settings, and the backups of the books. */
import type { ProcessorState__Output as Processor } from '../../../protos/types/causeway/operator/v1/ProcessorState.js'
import type { Instant } from '../../base/clock.js'
import type { ProcessState } from '../figures/processes.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import {
  agoText,
  badge,
  card,
  commandLine,
  empty,
  incomplete,
  spanText,
  table,
  time,
} from '../html/parts.js'
import { missingIn, part, type ConsolePage, type PageContext } from '../session/console_page.js'
import { listCard, number, rowOrName } from './list_card.js'

const MIB = 1_024 * 1_024
const BACKUPS_SHOWN = 20
/** How the outcome of one that failed begins. */
const FAILED = 'failed: '
/** Names and values of one setting are joined by it: no setting contains it. */
const SEPARATOR = '\u0000'

export const system: ConsolePage = {
  path: '/system',
  render: async (context) => {
    const { operator } = context.clients
    const state = operator.call('ShowSystem', {})
    const [processors, settings, backups] = await Promise.all([
      part('The processors', state, (found) =>
        card(
          'Processors and their books',
          html`${incomplete(missingIn(found))} ${processorTable(found.data, context.now)}
          ${commandLine('system show')}`,
          versionsBadge(found.data, context.figures.processes),
        ),
      ),
      part('The settings', state, (found) => settingsCard(found.data)),
      backupsCard(context, state),
    ])
    return {
      title: 'System',
      live: processesCard(context),
      body: html`${processors} ${backups} ${settings}`,
    }
  },
}

function processesCard({ figures: { isKnown, missing, processes }, now }: PageContext): Html {
  if (!isKnown) {
    return card('Processes', empty('CONSOLE_METRICS names no ops port that lists its processes.'))
  }
  const isOfSeveral = new Set(processes.map(({ opsPort }) => opsPort)).size > 1
  return html`${incomplete(missing)}
  ${card(
    'Processes',
    table({
      caption: 'Processes, by name',
      columns: [
        ...['Process', ...(isOfSeveral ? ['On'] : []), 'State', 'Version', 'Running for'],
        ...[number('Restarts'), number('Process id'), number('Memory')],
      ],
      rows: processes
        .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
        .map((process) => processRow(process, now, isOfSeveral)),
      empty: 'The first figures come in some seconds.',
    }),
  )}`
}

const nameOf = ({ name, opsPort }: ProcessState): string => `${name} ${opsPort}`

function processRow(
  {
    name,
    opsPort,
    isReady,
    pid,
    restarts,
    startedAt,
    version,
    serverVersion,
    residentBytes,
  }: ProcessState,
  now: Instant,
  isOfSeveral: boolean,
): readonly Content[] {
  return [
    html`<strong>${name}</strong>`,
    ...(isOfSeveral ? [opsPort] : []),
    isReady === false ? badge('not ready', 'bad') : badge('ready', 'good'),
    version ?? serverVersion,
    startedAt === undefined ? '' : spanText(now - startedAt),
    restarts === undefined || restarts === 0 ? restarts : badge(String(restarts), 'warn'),
    pid,
    residentBytes === undefined ? '' : `${Math.round(residentBytes / MIB)} MB`,
  ]
}

/** Processes of an upgrade that is not finished. */
function versionsBadge(processors: readonly Processor[], processes: readonly ProcessState[]): Html {
  const versions = new Set([
    ...processors.map(({ version }) => version),
    ...processes.flatMap(({ version }) => (version === undefined ? [] : [version])),
  ])
  if (versions.size === 0) return NOTHING
  return versions.size === 1
    ? badge(`version ${[...versions].join()}`, 'good')
    : badge(`${versions.size} versions run`, 'warn')
}

const processorTable = (processors: readonly Processor[], now: Instant): Html =>
  table({
    caption: 'Processors, by shard',
    columns: ['Books', 'Version', 'Started', 'Store', 'Migrations applied'],
    rows: processors.map(({ shard, version, started_at: startedAt, store, migrations }) => [
      html`<strong>${shard === '' ? 'of all partners' : shard}</strong>`,
      version,
      time(startedAt, now),
      store === 'postgres' ? 'PostgreSQL' : 'SQLite',
      html`<details class="report">
        <summary>${migrations.length}, newest ${migrations.at(-1) ?? 'none'}</summary>
        <ol>
          ${migrations.map((name) => html`<li><code>${name}</code></li>`)}
        </ol>
      </details>`,
    ]),
    empty: 'No processor answers.',
  })

/** The log has them with their outcome; `backup.json` also those made while no processor ran. */
async function backupsCard(
  context: PageContext,
  state: Promise<{ readonly data: readonly Processor[] }>,
): Promise<Html> {
  const { data } = await state.catch(() => ({ data: [] }))
  const known = data.map(({ last_backup: backup }) => Date.parse(backup?.snapshot_at ?? ''))
  const isFailed = (evidence: string | undefined): boolean => evidence?.startsWith(FAILED) === true
  return listCard(context, {
    title: 'Backups',
    call: context.clients.partners.call('ListActions', { action: 'backup', limit: BACKUPS_SHOWN }),
    caption: 'Backups in the action log, newest first',
    columns: ['Recorded', 'Backup', 'Outcome', 'By'],
    row: rowOrName(({ at, subject, evidence, actor }) => [
      time(at, context.now),
      html`<code>${subject}</code>`,
      isFailed(evidence) ? html`${badge('failed')} ${evidence?.slice(FAILED.length)}` : evidence,
      actor,
    ]),
    empty: 'The action log has no backup.',
    command: 'actions --action backup',
    aside: ({ data: listed }) => {
      const made = listed.filter(({ evidence }) => !isFailed(evidence))
      const all = [...known, ...made.map(({ at }) => Date.parse(at))]
      const newest = Math.max(...all.filter((at) => !Number.isNaN(at)))
      return Number.isFinite(newest)
        ? badge(`newest ${agoText(context.now - newest)}`)
        : badge('no backup known', 'bad')
    },
  })
}

interface SharedSetting {
  readonly name: string
  readonly value: string
  readonly isDefault: boolean
  readonly shards: readonly string[]
}

function settingsCard(processors: readonly Processor[]): Html {
  const all = sharedSettings(processors)
  const changed = all.filter(({ isDefault }) => !isDefault)
  const defaults = all.filter(({ isDefault }) => isDefault)
  const rows = (settings: readonly SharedSetting[]): readonly (readonly Content[])[] =>
    settings.map(({ name, value, shards }) => [
      html`<code>${name}</code>`,
      html`<span class="value">${value === '' ? 'empty' : value}</span>`,
      shards.length === processors.length ? '' : shards.join(', '),
    ])
  const columns = ['Setting', 'Value', processors.length > 1 ? 'Only' : '']
  return card(
    'Settings of the processors',
    html`<p class="hint">
        Secrets are masked. Other processes have their own: <code>config show</code> beside them.
      </p>
      ${table({
        caption: 'Settings that differ from their default',
        columns,
        rows: rows(changed),
        empty: 'Every setting has its default.',
      })}
      <details class="report">
        <summary>${defaults.length} settings have their default</summary>
        ${table({
          caption: 'Settings that have their default',
          columns,
          rows: rows(defaults),
          empty: 'None.',
        })}
      </details>`,
  )
}

/** What is equal in several processors once, with the shards that have it so. */
function sharedSettings(processors: readonly Processor[]): readonly SharedSetting[] {
  const found = new Map<string, SharedSetting>()
  for (const { shard, settings } of processors)
    for (const { name, value, is_default: isDefault } of settings) {
      const key = [name, value].join(SEPARATOR)
      const shards = [...(found.get(key)?.shards ?? []), shard]
      found.set(key, { name, value, isDefault, shards })
    }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
