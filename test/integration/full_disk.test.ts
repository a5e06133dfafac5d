/**
 * A disk that fills up: writes are refused, reads go on, also after a commit that failed.
 *
 * It needs a file system of its own, which root may mount; else it is skipped.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf } from '../support/partner.js'
import { payOut, untilStatus } from '../support/payments.js'
import { anIntent } from '../support/requests.js'
import { startStack } from '../support/stack.js'

t.setTimeout(0)

const MIB = 1024 * 1024
/** What is under way must still be so when the disk is almost full. */
const SETTINGS = { DISK_RESERVE_MB: '48', RAIL_DELAY_MS: '5000' }

const disk = join(tempFolder(t), 'disk')
mkdirSync(disk)
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk])
if (mounted.status !== 0) t.plan(0, 'skipped: only root may mount a small disk')
else {
  t.teardown(() => void spawnSync('umount', ['--lazy', disk]))
  await t.test('what a full disk ends', whatItEnds)
}

async function whatItEnds(t: Test): Promise<void> {
  const dataDir = join(disk, 'data')
  const stack = await startStack({ dataDir, settings: SETTINGS })
  t.teardown(() => stack.stop())
  const partner = partnerOf(stack.sandbox)
  const create = (key: string) =>
    partner.request('POST', '/v1/payment_intents', anIntent(), {
      headers: { 'Idempotency-Key': key },
    })
  const read = async () => (await partner.request('GET', '/v1/balances')).status
  const diskSays = async (): Promise<unknown> => {
    const { status, body } = await readyz()
    return status === 200 && (body as { disk: string }).disk
  }
  const readyz = async () => {
    const answer = await fetch(`${stack.sandbox.ops_url}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }
  const metrics = async () => (await fetch(`${stack.sandbox.ops_url}/metrics`)).text()

  t.equal((await create('before')).status, 201)
  t.equal(await diskSays(), 'ok')
  const payout = await payOut(partner, 'before')

  const filler = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 32 * MIB))
  await eventually('writes are refused', async () => (await create('during')).status === 503)
  t.match((await create('during')).text, '"configuration_error"')
  t.equal(await read(), 200)
  t.equal((await partner.request('GET', '/v1/payouts')).status, 200)
  await eventually('it is told', async () => (await diskSays()) === 'low')
  t.match(await metrics(), /^causeway_disk_low.* 1$/m)
  t.match(await metrics(), /^causeway_refused_disk_low_total\{.*\} [1-9]/m)
  t.match(stack.logOf('processor'), 'disk almost full')
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed') // what is under way ends

  const pid = stack.pidOf('processor')
  t.equal(spawnSync('prlimit', ['--pid', String(pid), '--fsize=1']).status, 0)
  await eventually('a commit fails', async () => {
    await read()
    return stack.pidOf('processor') !== pid
  })
  t.match(stack.output(), 'processor ended (exit code 70')
  await stack.untilServing()
  await eventually('it reads again', async () => (await read()) === 200)
  t.equal((await create('during')).status, 503)

  rmSync(filler)
  await eventually('there is room', async () => (await create('after')).status === 201)
  await eventually('it is told', async () => (await diskSays()) === 'ok')
  t.equal((await create('during')).status, 201, 'the key was free')
  await stack.stop()
  t.match(await auditOf(dataDir), { clean: true })
}
