/**
 * An almost full disk: writes are rejected and reads continue, also after a failed commit.
 *
 * It mounts a small file system, so it is skipped without root.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { payOut, requestIntent, untilStatus } from '../support/payments.js'
import { startStack } from '../support/stack.js'

t.setTimeout(0)

const MIB = 1024 * 1024
/** The rail is slow enough for the payout to be open when the disk is almost full. */
const SETTINGS = { DISK_RESERVE_MB: '48', RAIL_DELAY_MS: '5000' }

const disk = join(tempFolder(t), 'disk')
mkdirSync(disk)
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk])
if (mounted.status !== 0) t.plan(0, 'mounting a small file system requires root')
else {
  t.teardown(() => void spawnSync('umount', ['--lazy', disk]))
  await t.test('an almost full disk rejects writes', fullDisk)
}

async function fullDisk(t: Test): Promise<void> {
  const dataDir = join(disk, 'data')
  const stack = await startStack({ t, dataDir, settings: SETTINGS })
  const { partner } = stack
  const create = (key: string) => requestIntent(partner, key)
  const read = async () => (await partner.request('GET', '/v1/balances')).status
  const diskState = async (): Promise<unknown> => {
    const { status, body } = await stack.readyz()
    return status === 200 && body['disk']
  }

  t.equal((await create('before')).status, 201)
  t.equal(await diskState(), 'ok')
  const payout = await payOut(partner, 'before')

  const filler = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 32 * MIB))
  await eventually('writes are rejected', async () => (await create('during')).status === 503)
  t.match((await create('during')).text, '"configuration_error"')
  t.equal(await read(), 200)
  t.equal((await partner.request('GET', '/v1/payouts')).status, 200)
  await eventually('readyz reports it', async () => (await diskState()) === 'low')
  t.match(await stack.metrics(), /^causeway_disk_low.* 1$/m)
  t.match(await stack.metrics(), /^causeway_commands_rejected_total\{reason="disk_low".*\} [1-9]/m)
  await eventually('it is logged', () => stack.logOf('processor').includes('disk almost full'))
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed') // open payments continue

  const pid = stack.pidOf('processor')
  t.equal(spawnSync('prlimit', ['--pid', String(pid), '--fsize=1']).status, 0)
  await eventually('a commit fails', async () => {
    await read()
    return stack.pidOf('processor') !== pid
  })
  await stack.untilServing()
  t.match(stack.output(), 'processor ended (exit code 70')
  await eventually('reads are served again', async () => (await read()) === 200)
  t.equal((await create('during')).status, 503)

  rmSync(filler)
  await eventually('writes are served again', async () => (await create('after')).status === 201)
  await eventually('readyz reports it', async () => (await diskState()) === 'ok')
  t.equal((await create('during')).status, 201, 'the rejected request did not use its key')
  await stack.stop()
  await assertCleanAudit(t, dataDir)
}
