/** Callers of a server under test. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller, OperatorRole } from '../../src/auth/caller.js'
import {
  callerEntry,
  configuredCaller,
  createCallers,
  type Callers,
} from '../../src/auth/callers.js'
import { systemClock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import type { OperatorAccess } from '../../src/operations/calls/calls.js'
import type { Sandbox } from '../../src/operations/calls/sandbox.js'

/** Access of the first operator of a stack. */
export const operatorAccessOf = ({ sandbox, dataDir }: ServedStack): OperatorAccess => ({
  address: sandbox.grpc_address,
  token: () => readFileSync(join(dataDir, FILES.operatorToken), 'utf8').trim(),
})

interface ServedStack {
  readonly sandbox: Sandbox
  readonly dataDir: string
}

/** One token for every rpc, for tests that are not about access. */
export function withEveryRole(token: string, name = 'test'): Callers {
  const roles = [
    ...['read', 'operate', 'decide', 'service', 'gateway', 'webhooks', 'supervisor', 'processor'],
  ] as OperatorRole[]
  const entry = configuredCaller(callerEntry('operator', name, token))
  const caller: Caller = { ...entry.caller, roles }
  return createCallers([{ ...entry, caller }], systemClock)
}
