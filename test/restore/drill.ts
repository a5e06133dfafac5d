/**
 * The restore drill: a machine is lost under load, its last backup is restored on another one, the
 * loss is reconciled with the bank and released, and every lost key is retried.
 *
 * The bank survives: the log of the sandbox rail goes to the new machine, as a real bank would
 * answer from there; so do those of the ISO 20022 adapter and its switch. Everything else of the
 * lost machine is gone, except the keys, which are kept apart from backups.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openSwitchLog } from '../../src/rails/switch/switch_log.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, type OperatorCli } from '../support/operator_cli.js'
import { type HttpAnswer, type Partner } from '../support/partner.js'
import { idIn, requestPayout, retryUntilFinal, untilStatus } from '../support/payments.js'
import { startProgram, type CliResult } from '../support/program.js'
import { instructionsAt, writeStatement } from '../support/rail_journal.js'
import { processesIn, startStack, type RunningStack } from '../support/stack.js'
import { startPayers, type Payment } from '../workload/payers.js'
import { booksOf, copyServer, type DrillStore, type MachineBooks } from './drill_books.js'

const WITHIN_MS = 120_000
/** Each try starts a program. */
const TRY_AGAIN_AFTER_MS = 500
const PAYERS = 6
const REASON = ['--reason', 'restore drill']
const EVIDENCE = ['--evidence', 'line of the statement']
const KEPT_APART = [FILES.masterKey, FILES.operatorToken, FILES.internalToken]

export interface DrillOptions {
  /** An empty folder. */
  readonly folder: string
  readonly rail: 'sandbox' | 'iso20022'
  readonly store: DrillStore
  /** Payments that are acknowledged before the backup begins, and after it has ended. */
  readonly before: number
  readonly after: number
  /** A payer waits so long after a payment. Default: not at all. */
  readonly pauseMs?: number
  readonly now: () => number
  readonly print: (line: string) => void
}

export interface DrillResult {
  /** Acknowledged payments by key. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** Keys of acknowledged payments that the restored books lack. */
  readonly lost: readonly string[]
  /** Keys of calls that the loss left without an answer. */
  readonly unanswered: readonly string[]
  /** Lost keys whose payment the bank had executed; they were held and matched. */
  readonly matched: readonly string[]
  /** Acknowledged payments that the bank has not executed exactly once. */
  readonly notOnce: readonly string[]
  readonly audit: { readonly clean: boolean; readonly report: string }
  readonly seconds: {
    /** From the books' last moment in the backup to the loss: what a restore loses. */
    readonly lost: number
    /** From the loss to the first answered read, and to the first accepted payment. */
    readonly untilReads: number
    readonly untilPayments: number
  }
}

export async function restoreDrill(options: DrillOptions): Promise<DrillResult> {
  const used: MachineBooks[] = []
  const books = async (name: string): Promise<MachineBooks> => {
    const started = await booksOf(options.store, join(options.folder, name))
    used.push(started)
    return started
  }
  try {
    return await drill(options, books)
  } finally {
    for (const { stop } of used) await stop()
  }
}

/** @param booksIn starts the books whose server has this folder */
async function drill(
  options: DrillOptions,
  booksIn: (name: string) => Promise<MachineBooks>,
): Promise<DrillResult> {
  const { folder, rail, store, now, print } = options
  const settings = { RAIL_DELAY_MS: '50', RATE_LIMIT: 'off', RAIL_ADAPTER: rail }
  const backups = join(folder, 'backups')
  const [lostDir, newDir] = [join(folder, 'lost'), join(folder, 'new')]
  const lostBooks = await booksIn('lost_server')
  const stack = await startStack({
    dataDir: lostDir,
    settings: { ...settings, ...lostBooks.settings },
  })
  const { partner: lostPartner } = stack
  const payNext = async (key: string): Promise<Payment> => {
    const answer = await pay(lostPartner, key).catch((error: unknown) => {
      void payers.stop() // the machine is lost
      throw error
    })
    if (answer.status !== 202) throw new Error(answer.text)
    return { key, id: idIn(answer), finalStatus: 'completed' }
  }
  const payers = startPayers(PAYERS, payNext, options.pauseMs)
  await payers.until(options.before)
  const { manifest, path } = await backUp(lostDir, backups, lostBooks.settings)
  print(`backup under load: as of ${manifest.snapshot_at}, batch ${manifest.books.batch}`)
  await payers.until(payers.payments.length + options.after)
  await loseMachine(stack)
  await lostBooks.stop()
  const lostAt = now()
  await payers.stop()
  const acknowledged = new Map(payers.payments.map(({ key, id }) => [key, id]))
  print(`machine lost after ${acknowledged.size} acknowledged payments`)

  await restore(path, lostDir, newDir, lostBooks.settings)
  if (store === 'postgres') copyServer(path, join(folder, 'new_server'))
  const books = await booksIn('new_server')
  const restored = await startStack({
    dataDir: newDir,
    settings: { ...settings, ...books.settings },
  })
  try {
    const partner = restored.partner
    await partner.request('GET', '/v1/payouts')
    const readsAt = now()
    const lost = await lostKeys(partner, acknowledged)
    for (const key of lost) print(`  lost: ${key} ${acknowledged.get(key)}`)
    const ops = operatorCli(newDir, '', books.settings)
    await release(ops, folder, newDir)
    await restored.untilMode('normal', WITHIN_MS)
    await payUntilAnswered(partner, 'after the release')
    const paymentsAt = now()
    const { unanswered } = payers
    const retried = new Map<string, string>()
    for (const key of [...lost, ...unanswered]) {
      retried.set(key, idIn(await payUntilAnswered(partner, key)))
    }
    const matched = await matchOrphans(ops, retried)
    const all = new Map([...acknowledged, ...retried])
    for (const id of all.values()) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
    const times = await (rail === 'sandbox' ? executionsByReference : paidAtSwitch)(newDir)
    return {
      ...{ acknowledged, lost, unanswered, matched },
      notOnce: [...all.keys()].filter((key) => times.get(referenceOf(key)) !== 1),
      audit: await auditOf(newDir, books.settings),
      seconds: {
        lost: (lostAt - Date.parse(manifest.snapshot_at)) / 1_000,
        untilReads: (readsAt - lostAt) / 1_000,
        untilPayments: (paymentsAt - lostAt) / 1_000,
      },
    }
  } finally {
    await restored.stop()
  }
}

const OF_THE_BANK = /^(?:rail\.key|(?:rail|iso20022)\.db(?:-wal)?|iso20022|switch\.jsonl)$/

/**
 * Not one contains another: a payment is also held for an executed one whose reference may be its
 * own cut short, as 28 is of 284.
 */
const referenceOf = (key: string): string => `${key} invoice`

/** The same request with the same key each time. */
const pay = (partner: Partner, key: string): Promise<HttpAnswer> =>
  requestPayout(partner, key, { reference: referenceOf(key) })

async function payUntilAnswered(partner: Partner, key: string): Promise<HttpAnswer> {
  const answer = await retryUntilFinal(() => pay(partner, key))
  if (answer.status > 202) throw new Error(`${key}: ${answer.status} ${answer.text}`)
  return answer
}

interface Written {
  readonly path: string
  readonly manifest: { readonly snapshot_at: string; readonly books: { readonly batch: number } }
}

async function backUp(
  dataDir: string,
  backups: string,
  books: MachineBooks['settings'],
): Promise<Written> {
  const made = await operatorRun({ ...books, DATA_DIR: dataDir }, 'backup', backups, '--json')
  const written = JSON.parse(made.out) as Written['manifest'] & { readonly folder: string }
  return { path: written.folder, manifest: written }
}

/** As `make ops` runs it. @throws with its output when it fails */
export const operatorProgram = (dataDir: string, ...words: string[]): Promise<CliResult> =>
  operatorRun({ DATA_DIR: dataDir }, ...words)

async function operatorRun(
  settings: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<CliResult> {
  const result = await startProgram('operations/main.js', words, settings).ended
  if (result.exitCode === 0) return result
  throw new Error(`${words.join(' ')}: ${result.out}${result.err}`)
}

/** Every process at once; the supervisor first, so that it restarts none. */
async function loseMachine(stack: RunningStack): Promise<void> {
  const processes = Object.values(processesIn(join(stack.dataDir, 'run.json')))
  const ended = stack.stop('SIGKILL')
  for (const { pid } of processes) process.kill(pid, 'SIGKILL')
  await ended
}

async function restore(
  backup: string,
  lostDir: string,
  newDir: string,
  books: MachineBooks['settings'],
): Promise<void> {
  mkdirSync(newDir, { mode: 0o700 })
  for (const name of KEPT_APART) copyFileSync(join(lostDir, name), join(newDir, name))
  await operatorRun({ ...books, DATA_DIR: newDir }, 'restore', backup)
  const ofTheBank = readdirSync(lostDir).filter((name) => OF_THE_BANK.test(name))
  for (const name of ofTheBank) cpSync(join(lostDir, name), join(newDir, name), { recursive: true })
  if (!existsSync(join(newDir, FILES.railKey))) throw new Error('the bank has no key')
}

async function lostKeys(
  partner: Partner,
  acknowledged: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const lost: string[] = []
  for (const [key, id] of acknowledged) {
    const { status } = await partner.request('GET', `/v1/payouts/${id}`)
    if (status === 404) lost.push(key)
    else if (status !== 200) throw new Error(`${id}: ${status}`)
  }
  return lost
}

async function release(ops: OperatorCli, folder: string, dataDir: string): Promise<void> {
  const statement = join(folder, 'statement.csv')
  await eventually(
    'the statement is that of the rail',
    async () => {
      await writeStatement(dataDir, statement).catch(() => undefined)
      const released = await ops('recovery release', '--statement', statement, '--yes', ...REASON)
      return released.exitCode === 0
    },
    WITHIN_MS,
    TRY_AGAIN_AFTER_MS,
  )
}

/** Every orphan execution is of a retried key. @returns the keys that were matched */
async function matchOrphans(
  ops: OperatorCli,
  retried: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const matched: string[] = []
  for (const { instruction_id: id, reference } of await executedOrphans(ops)) {
    const [key, payment] = [...retried].find(([key]) => referenceOf(key) === reference) ?? []
    if (key === undefined || payment === undefined) throw new Error(`no key has ${reference}`)
    await ops.json('recovery resolve', id, '--match', payment, ...EVIDENCE, ...REASON)
    matched.push(key)
  }
  return matched
}

interface Orphan {
  readonly instruction_id: string
  readonly reference?: string
  readonly state: string
}

/** Once the bank has executed all that it had accepted. */
const executedOrphans = (ops: OperatorCli): Promise<readonly Orphan[]> =>
  eventually(
    'the bank has executed what it accepted',
    async () => {
      const orphans = await openOrphans(ops)
      return orphans.every(({ state }) => state === 'executed') && orphans
    },
    WITHIN_MS,
  )

async function openOrphans(ops: OperatorCli): Promise<readonly Orphan[]> {
  const found: Orphan[] = []
  let cursor: string | null = null
  do {
    const after: readonly string[] = cursor === null ? [] : ['--cursor', cursor]
    const page = await ops.json('recovery orphans', ...after)
    found.push(...(page['data'] as readonly Orphan[]))
    cursor = (page['next_cursor'] as string | null | undefined) ?? null
  } while (cursor !== null)
  return found
}

async function executionsByReference(dataDir: string): Promise<ReadonlyMap<string, number>> {
  const rows = await instructionsAt<{ reference: string; times: number }>(
    dataDir,
    'SELECT reference, sum(executions) AS times FROM instructions GROUP BY reference',
  )
  return new Map(rows.map(({ reference, times }) => [reference, times]))
}

/** As the switch has them. */
async function paidAtSwitch(dataDir: string): Promise<ReadonlyMap<string, number>> {
  const log = openSwitchLog(join(dataDir, FILES.switchLog), { readOnly: true })
  log.close()
  const rows = await instructionsAt<{ id: string; reference: string }>(
    dataDir,
    'SELECT id, reference FROM instructions',
  )
  const times = new Map<string, number>()
  for (const { id, reference } of rows) {
    const isPaid = log.payments.get(id)?.state === 'executed'
    times.set(reference, (times.get(reference) ?? 0) + (isPaid ? 1 : 0))
  }
  const executed = [...log.payments.values()].filter(({ state }) => state === 'executed').length
  if (executed !== [...times.values()].reduce((sum, count) => sum + count, 0))
    throw new Error('the switch has paid what the adapter does not know')
  return times
}
