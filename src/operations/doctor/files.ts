/** DATA_DIR, its files, and the secret files that settings name: owner and mode. */
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readSecretFile, requirePrivateFolder } from '../../files/secret_file.js'
import { dataFile, type Settings } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, type Area } from './area.js'

/** Written in DATA_DIR by its owner; others read secrets, payments or account numbers in them. */
const PRIVATE = /\.(db|db-wal|db-shm|key|token|password)$|^(sandbox|run|restored|backup)\.json$/
const OTHERS = 0o077
const EVERYONE = 0o007

export const files: Area = {
  name: 'files',
  look: (settings) =>
    Promise.resolve(
      checked([
        ...folderFindings(settings),
        ...namedFindings(settings),
        ...privateKeys(settings).flatMap(([name, file]) => worldFinding(name, file)),
      ]),
    ),
}

function folderFindings({ DATA_DIR }: Settings): readonly Finding[] {
  const folder = resolve(DATA_DIR)
  if (!existsSync(folder)) return []
  try {
    requirePrivateFolder(folder, `DATA_DIR=${DATA_DIR}`)
  } catch (error) {
    return [notTrusted(messageOf(error))]
  }
  return readdirSync(folder)
    .filter((name) => PRIVATE.test(name))
    .flatMap((name) => openFinding(join(folder, name)))
}

function openFinding(path: string): readonly Finding[] {
  const { mode } = lstatSync(path)
  if ((mode & OTHERS) === 0) return []
  return [notTrusted(`${path} is accessible to others (mode ${(mode & 0o777).toString(8)})`)]
}

const notTrusted = (finding: string): Finding => ({
  finding: finding.replace(/\.$/, ''),
  why: 'what others can read or write is no secret, and no evidence',
  remedy: 'chmod 700 the folder, chmod 600 the files; replace secrets that others may have read',
})

/** Secret files outside of DATA_DIR; one in it that is missing is made at the first start. */
function namedFindings(settings: Settings): readonly Finding[] {
  const named = [
    ['MASTER_KEY_FILE', settings.MASTER_KEY_FILE],
    ['OPERATOR_TOKEN_FILE', settings.OPERATOR_TOKEN_FILE],
    ['OTLP_HEADERS_FILE', settings.OTLP_HEADERS_FILE],
  ] as const
  const given = named.filter(([, file]) => file !== '')
  return [
    ...given.flatMap(([name, file]) => unreadable(name, file)),
    ...(hasBooks(settings) ? missingKey(settings) : []),
  ]
}

function unreadable(name: string, file: string): readonly Finding[] {
  try {
    readSecretFile(file, { isNamed: true })
    return []
  } catch (error) {
    return [
      {
        finding: `${name}: ${messageOf(error).replace(/\.$/, '')}`,
        why: 'the process that needs it does not start',
        remedy: 'put the file there, mode 0600, owned by the user of the process',
      },
    ]
  }
}

/** Private keys of TLS; one that is missing is a finding of the certificates. */
const privateKeys = (settings: Settings): readonly (readonly [string, string])[] =>
  [
    ...(['TLS_KEY_FILE', 'GRPC_TLS_KEY_FILE', 'NATS_TLS_KEY_FILE'] as const),
    ...(['CONSOLE_TLS_KEY_FILE'] as const),
  ]
    .map((name) => [name, settings[name]] as const)
    .filter(([, file]) => file !== '' && existsSync(file))

/** A group may read them, as tools that renew certificates and container platforms have it. */
function worldFinding(name: string, file: string): readonly Finding[] {
  const { mode } = statSync(file)
  if ((mode & EVERYONE) === 0) return []
  const text = (mode & 0o777).toString(8)
  return [notTrusted(`${name}: ${file} is accessible to every user (mode ${text})`)]
}

const hasBooks = (settings: Settings): boolean =>
  existsSync(dataFile(settings, FILES.processorDatabase))

function missingKey(settings: Settings): readonly Finding[] {
  const file = settings.MASTER_KEY_FILE || dataFile(settings, FILES.masterKey)
  if (settings.MASTER_KEY_FILE !== '' || existsSync(file)) return []
  return [
    {
      finding: `${file} is missing`,
      why: 'the books cannot be opened without the key that encrypts their secrets',
      remedy: 'restore it from where the keys are kept',
    },
  ]
}
