/**
 * The native part of uWebSockets.js is one person's upload, so only the reviewed binaries may load.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

/** By platform, architecture and Node's ABI: 115 is Node 20, 127 is Node 22, 137 is Node 24. */
const EXAMINED: Readonly<Record<string, string>> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  linux_x64_127: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  linux_x64_137: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  linux_arm64_127: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  linux_arm64_137: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
}

const running = `${process.platform}_${process.arch}_${process.versions.modules}`

const hashOf = (build: string): string =>
  createHash('sha256')
    .update(
      readFileSync(join(projectRoot(), 'node_modules', 'uWebSockets.js', `uws_${build}.node`)),
    )
    .digest('hex')

const unknown = EXAMINED[running] === undefined && `no binary was reviewed for ${running}`

t.test('the loaded binary is the reviewed one', { skip: unknown }, async (t) => {
  t.equal(hashOf(running), EXAMINED[running])
})

t.test('the binaries for other Node versions and machines are the reviewed ones', async (t) => {
  for (const [build, expected] of Object.entries(EXAMINED)) t.equal(hashOf(build), expected, build)
})
