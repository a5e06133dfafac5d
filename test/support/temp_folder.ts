/**
 * A test's temporary folder for processes that outlive the test function; private, as a DATA_DIR
 * must be.
 *
 * tap removes `testdir` before the teardowns unless a teardown was registered first. A process that
 * still writes there makes the removal fail, and the file hangs until its time limit.
 */
import { chmodSync } from 'node:fs'
import type { Test } from 'tap'

export function tempFolder(t: Pick<Test, 'testdir' | 'teardown'>): string {
  t.teardown(() => undefined)
  const folder = t.testdir()
  chmodSync(folder, 0o700)
  return folder
}
