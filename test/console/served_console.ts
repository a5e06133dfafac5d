/** A console in the process of a test, beside processors that it names. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Test } from 'tap'
import { OPERATOR_ROLES, type OperatorRole } from '../../src/auth/caller.js'
import { callerEntry, configuredCaller } from '../../src/auth/callers.js'
import { allowedHosts } from '../../src/process/allowed_hosts.js'
import { plus, systemClock, type Clock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { systemRandom } from '../../src/base/random.js'
import { createApp } from '../../src/console/app.js'
import { createSessions } from '../../src/console/session/sessions.js'
import { createSignInLimit } from '../../src/console/session/sign_in_limit.js'
import { openUplink } from '../../src/console/session/uplink.js'
import { readStaticFiles } from '../../src/console/static_files.js'
import { listen } from '../support/listen.js'
import { SILENT_LOG } from '../support/logs.js'

/** Figures that are not known. */
export const NO_FIGURES = {
  state: () => ({
    ...{ isKnown: false, missing: [], points: [], processes: [], rails: [] },
    writeFaults: new Map<string, string>(),
  }),
}

export const tokenOf = (name: string): string => `op_of_these_tests_only_${name}`

/** For `createCallers`. */
export function operator(name: string, roles: readonly OperatorRole[] = OPERATOR_ROLES) {
  const entry = configuredCaller(callerEntry('operator', name, tokenOf(name)))
  return { ...entry, caller: { ...entry.caller, roles } }
}

/** A busy machine has so much longer for a call. */
const LONGER_MS = 6_000
const uplinkClock: Clock = { now: () => plus(systemClock.now(), LONGER_MS) }

/**
 * @param clock of its sessions and pages; not before the system's, whose calls have deadlines
 * @returns its address
 */
export async function serveConsole(
  t: Pick<Test, 'teardown'>,
  { processors, clock }: { readonly processors: readonly string[]; readonly clock: Clock },
): Promise<string> {
  const sessions = createSessions(clock, systemRandom())
  const settings = { PROCESSOR_ADDRESS: processors[0] ?? '', PROCESSORS: processors }
  const app = createApp({
    ...{ clock, sessions, log: SILENT_LOG, logs: '' },
    ...{ files: readStaticFiles(), signInLimit: createSignInLimit(clock) },
    figures: NO_FIGURES,
    observePage: () => undefined,
    isAllowedHost: allowedHosts('127.0.0.1', []),
    openUplink: (shown) => openUplink(shown, { settings, tls: CLEARTEXT, clock: uplinkClock }),
    ownToken: undefined,
  })
  const listener = getRequestListener(app.fetch)
  const server = createServer((request, response) => void listener(request, response))
  t.teardown(() => sessions.close())
  return `http://127.0.0.1:${await listen(t, server)}`
}
