/**
 * The credentials of a stack: the callers of the processor, the rail and screening, and their
 * tokens.
 *
 * - Tokens of our own processes are new at each start and never written to disk; each process
 *   gets its own one, and the servers get only digests.
 * - The tokens of the internal service and of the first operator are files with mode 0600, made at
 *   the first start.
 */
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isCallerName, type CallerKind } from '../auth/caller.js'
import { newCallerToken } from '../auth/caller_token.js'
import { callerEntry } from '../auth/callers.js'
import type { Random } from '../base/random.js'
import { createSecretFile, readTokenFile } from '../files/secret_file.js'
import type { SettingName, Settings } from '../settings/settings.js'
import { FILES } from '../base/subjects.js'
import type { OwnProgram } from './child_variables.js'
import type { DataFolder } from './data_folder.js'

const INTERNAL_SERVICE = 'internal'
const UNNAMED_OPERATOR = 'operator'

export interface Credentials {
  /** The token of the internal service in `sandbox.json`. */
  readonly internalToken: string
  /** The token that the supervisor itself uses. */
  readonly supervisorToken: string
  settingsOf(program: OwnProgram): Partial<Record<SettingName, string>>
}

export function createCredentials(
  settings: Pick<Settings, 'CALLERS' | 'SCREENING' | 'CONSOLE_CLIENT_CA_FILE'>,
  data: DataFolder,
  random: Random,
): Credentials {
  const fresh = (kind: CallerKind): string => newCallerToken(kind, random)
  const [gateway, webhooks, supervisor, processor] = [
    ...[fresh('gateway'), fresh('webhooks'), fresh('supervisor'), fresh('processor')],
  ] as const
  const console = settings.CONSOLE_CLIENT_CA_FILE === '' ? undefined : fresh('console')
  const internal = ensureToken(data.file(FILES.internalToken), 'service', random)
  const operator = ensureToken(data.file(FILES.operatorToken), 'operator', random)
  const callersOfProcessor = [
    callerEntry('gateway', 'gateway', gateway),
    callerEntry('webhooks', 'webhooks', webhooks),
    callerEntry('supervisor', 'supervisor', supervisor),
    callerEntry('service', INTERNAL_SERVICE, internal),
    callerEntry('operator', systemUser(), operator),
    ...(console === undefined ? [] : [callerEntry('console', 'console', console)]),
    ...settings.CALLERS,
  ].join()
  const callersOfRail = { CALLERS: callerEntry('processor', 'processor', processor) }
  const byProgram: Readonly<Record<OwnProgram, Partial<Record<SettingName, string>>>> = {
    'src/rails/sandbox/main.js': callersOfRail,
    'src/rails/iso20022/main.js': callersOfRail,
    'src/rails/switch/main.js': {},
    'src/screening/sandbox/main.js': callersOfRail,
    'src/processor/main.js': {
      ...{ CALLERS: callersOfProcessor, RAIL_TOKEN: processor },
      ...(settings.SCREENING === 'sandbox' ? { SCREENING_TOKEN: processor } : {}),
    },
    'actors/webhook/main.js': { PROCESSOR_TOKEN: webhooks },
    'gateway/main.js': { PROCESSOR_TOKEN: gateway },
    // It shows certificates of operators with it. One who has none brings a token.
    'src/console/main.js': console === undefined ? {} : { PROCESSOR_TOKEN: console },
  }
  return {
    internalToken: internal,
    supervisorToken: supervisor,
    settingsOf: (program) => byProgram[program],
  }
}

function ensureToken(file: string, kind: CallerKind, random: Random): string {
  if (!existsSync(file)) createSecretFile(file, `${newCallerToken(kind, random)}\n`)
  return readTokenFile(file)
}

/** The first operator has the name that the action log has always shown. */
function systemUser(): string {
  try {
    const { username } = userInfo()
    return isCallerName(username) ? username : UNNAMED_OPERATOR
  } catch {
    return UNNAMED_OPERATOR // a container's user can have no entry
  }
}
