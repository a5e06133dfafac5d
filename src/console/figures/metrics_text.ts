/**
 * What the console reads of the metrics of an ops port, in Prometheus' text format.
 *
 * - Only the families that it draws are split up: an ops port answers thousands of lines.
 */

/** The label of each, in addition to `process`, that its count is kept by. */
export const FAMILIES = {
  causeway_payment_transitions_total: ['entity', 'state'],
  causeway_http_request_duration_seconds_bucket: ['le'],
  causeway_commit_duration_seconds_bucket: ['le'],
  causeway_outbox_oldest_age_seconds: [],
  causeway_command_refusals_total: ['code'],
  causeway_commands_rejected_total: ['reason'],
  causeway_http_authentication_refusals_total: ['reason'],
  causeway_http_limited_total: ['limit'],
  causeway_rail_down_seconds: ['rail'],
  causeway_rail_instructions_total: ['rail'],
  causeway_rail_reports_total: ['rail'],
  causeway_shard_epoch: ['shard'],
  causeway_shard_settings_fault: ['shard'],
  causeway_disk_low: [],
  causeway_build_info: ['version'],
  causeway_server_info: ['version'],
  causeway_server_start_time_seconds: [],
  causeway_process_up: [],
  causeway_process_pid: [],
  causeway_process_restarts_total: [],
  causeway_process_start_time_seconds: [],
  causeway_process_resident_memory_bytes: [],
} as const satisfies Readonly<Record<`causeway_${string}`, readonly string[]>>

export type FamilyName = keyof typeof FAMILIES

/** The sum of the samples of a process with the same values of those labels, joined by spaces. */
export type ProcessValues = ReadonlyMap<FamilyName, ReadonlyMap<string, number>>

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** @returns by process */
export function readMetrics(text: string): ReadonlyMap<string, ProcessValues> {
  const processes = new Map<string, Map<FamilyName, Map<string, number>>>()
  for (const line of text.split('\n')) {
    const name = line.slice(0, line.indexOf('{'))
    if (!isFamily(name)) continue
    const value = Number(line.slice(line.lastIndexOf(' ') + 1))
    if (!Number.isFinite(value)) continue
    const labels = new Map<string, string>()
    for (const [, label = '', text = ''] of line.matchAll(LABEL)) labels.set(label, unescaped(text))
    const process = within(
      processes,
      labels.get('process') ?? '',
      () => new Map<FamilyName, Map<string, number>>(),
    )
    const values = within(process, name, () => new Map<string, number>())
    const key = FAMILIES[name].map((label) => labels.get(label) ?? '').join(' ')
    values.set(key, (values.get(key) ?? 0) + value)
  }
  return processes
}

const isFamily = (name: string): name is FamilyName => Object.hasOwn(FAMILIES, name)

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
