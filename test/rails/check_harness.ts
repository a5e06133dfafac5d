/** The conformance kit on an adapter in this process. */
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { readBehaviors, type Behaviors } from '../../src/rails/check/behaviors.js'
import { createRun } from '../../src/rails/check/context.js'
import { createProbe } from '../../src/rails/check/probe.js'
import { runLines, type LineResult } from '../../src/rails/check/run.js'
import { patience } from '../support/patience.js'
import { random, TOKEN } from './harness.js'

export interface Checked {
  readonly address: string
  readonly restart?: () => Promise<void>
  readonly behaviors?: Behaviors
  readonly only?: readonly string[]
  readonly patienceMs?: number
}

const PATIENCE_MS = 20_000
/** On a busy machine. */
const ANSWERED_WITHIN_MS = 120_000

/** The results of all lines. */
export async function check(t: Test, checked: Checked): Promise<readonly LineResult[]> {
  const { address, restart, only, patienceMs = PATIENCE_MS } = checked
  const probe = createProbe({
    ...{ address, token: TOKEN, tls: CLEARTEXT, clock: systemClock },
    answeredWithinMs: ANSWERED_WITHIN_MS,
  })
  t.teardown(() => probe.close())
  const described = await probe.describe()
  if (described.kind === 'fault') throw new Error(described.text)
  const run = createRun({
    ...{ probe, clock: systemClock, random, patienceMs, hasToken: true },
    deadline: () => patience(patienceMs),
    finalityWindowMs: described.message.finality_window_ms,
    behaviors: checked.behaviors ?? readBehaviors(undefined),
    ...(restart === undefined ? {} : { restart }),
  })
  return runLines(run, only, () => undefined)
}

/** The names of the lines with this result. */
export const namesOf = (
  results: readonly LineResult[],
  wanted: LineResult['result'],
): readonly string[] => results.filter(({ result }) => result === wanted).map(({ name }) => name)
