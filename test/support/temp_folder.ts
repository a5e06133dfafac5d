/**
 * A test's temporary folder for processes that outlive the test function.
 *
 * tap removes `testdir` ahead of the teardowns, unless it was asked for after one. What writes in
 * it meanwhile makes the removal fail, and the file hangs to its limit.
 */
import type { Test } from 'tap'

export function tempFolder(t: Pick<Test, 'testdir' | 'teardown'>): string {
  t.teardown(() => undefined)
  return t.testdir()
}
