/** The real Prometheus for tests: promtool, and a server that looks every second. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from '../support/eventually.js'

const isInstalled = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
)

/** Under CI nothing is skipped: without Prometheus the tests fail. */
export const skipsPrometheus: string | false =
  !isInstalled && process.env['CI'] === undefined
    ? 'Prometheus is not installed: apt-get install prometheus'
    : false

/** @returns what promtool says about faults; empty when it finds none */
export function promtool(words: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', words, { input, encoding: 'utf8' })
  return status === 0 && stderr.trim() === '' ? '' : `exit ${status}\n${stdout}${stderr}`
}

export interface Prometheus {
  /** The values of an instant query, by their labels as JSON. */
  query(expr: string): Promise<ReadonlyMap<string, number>>
  /** Names of the alerts that fire. */
  firing(): Promise<ReadonlySet<string>>
  stop(): Promise<void>
}

/** @param rules the text of a rule file */
export async function startPrometheus(
  folder: string,
  targets: readonly string[],
  rules: string,
): Promise<Prometheus> {
  const port = await freePort('127.0.0.1')
  const config = join(folder, 'prometheus.yml')
  const rulesFile = join(folder, 'rules.yml')
  writeFileSync(rulesFile, rules)
  // YAML includes JSON.
  const scrape = { job_name: 'causeway', static_configs: [{ targets }] }
  const global = { scrape_interval: '1s', evaluation_interval: '1s', scrape_timeout: '1s' }
  writeFileSync(
    config,
    JSON.stringify({ global, rule_files: [rulesFile], scrape_configs: [scrape] }),
  )
  const child = spawn(
    'prometheus',
    [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return ((await answer.json()) as { readonly data: T }).data
  }
  const prometheus: Prometheus = {
    query: async (expr) => {
      const { result } = await get<Vector>(`/api/v1/query?query=${encodeURIComponent(expr)}`)
      return new Map(
        result.map(({ metric, value: [, value] }) => [JSON.stringify(metric), Number(value)]),
      )
    },
    firing: async () => {
      const { alerts } = await get<Alerts>('/api/v1/alerts')
      const fires = alerts.filter(({ state }) => state === 'firing')
      return new Set(fires.map(({ labels }) => labels.alertname))
    },
    stop: async () => {
      process.off('exit', end)
      if (child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
  await eventually('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended: ${output}`)
    const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined)
    return answer?.ok
  })
  return prometheus
}

interface Vector {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly value: readonly [at: number, value: string]
  }[]
}

interface Alerts {
  readonly alerts: readonly {
    readonly state: string
    readonly labels: { readonly alertname: string }
  }[]
}
