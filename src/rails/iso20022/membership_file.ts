/**
 * Reads ISO20022_FILE: who we are on the network, the switch's address, certificates and keys.
 *
 * Does not own: what is done with them (transport, bank).
 *
 * - A fault names the file, the member and the rule; no key is part of a text.
 * - Private keys are files that only our user can read. Paths are relative to the file's folder.
 */
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Ajv, type JSONSchemaType } from 'ajv'
import { ENVIRONMENTS, type Environment } from '../../base/ids.js'
import { readSecretFile } from '../../files/secret_file.js'
import { SettingsError } from '../../settings/settings_reader.js'
import { ALGORITHMS, createSigner, createVerifier, type Algorithm } from './signature.js'
import type { PublicKeys, Signer, Verifier } from './signature.js'
import type { Membership } from './payment_messages.js'

/** The file as it is written; see the guide. */
export interface MembershipFile {
  readonly environment: Environment
  readonly member_id: string
  readonly peer_id: string
  readonly account: { readonly name: string; readonly number: string }
  readonly send_to: string
  readonly listen: string
  readonly finality_window_ms: number
  readonly tls: {
    readonly cert_file: string
    readonly key_file: string
    readonly ca_file: string
  }
  readonly signing: {
    readonly key_file: string
    readonly key_id: string
    readonly algorithm: Algorithm
  }
  readonly peer_keys_file: string
}

export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  readonly ca: string
}

export interface ReadMembership extends Membership {
  readonly environment: Environment
  readonly sendTo: string
  readonly listen: string
  readonly finalityWindowMs: number
  readonly tls: TlsMaterial
  readonly signer: Signer
  readonly verifier: Verifier
}

const NAME = { type: 'string', pattern: '^\\S(?:.{0,138}\\S)?$' } as const
const MEMBER = { type: 'string', pattern: '^[A-Za-z0-9]{1,35}$' } as const
const FILE = { type: 'string', minLength: 1 } as const
const strict = { type: 'object', additionalProperties: false } as const

const SCHEMA: JSONSchemaType<MembershipFile> = {
  ...strict,
  required: [
    ...(['environment', 'member_id', 'peer_id', 'account', 'send_to', 'listen'] as const),
    ...(['finality_window_ms', 'tls', 'signing', 'peer_keys_file'] as const),
  ],
  properties: {
    environment: { type: 'string', enum: ENVIRONMENTS },
    member_id: MEMBER,
    peer_id: MEMBER,
    account: {
      ...strict,
      required: ['name', 'number'],
      properties: { name: NAME, number: { type: 'string', pattern: '^[A-Za-z0-9-]{1,34}$' } },
    },
    send_to: { type: 'string', pattern: '^https://[^@\\s]+$' },
    listen: { type: 'string', pattern: '^.+:[0-9]{1,5}$' },
    finality_window_ms: { type: 'integer', minimum: 1_000, maximum: 86_400_000 },
    tls: {
      ...strict,
      required: ['cert_file', 'key_file', 'ca_file'],
      properties: { cert_file: FILE, key_file: FILE, ca_file: FILE },
    },
    signing: {
      ...strict,
      required: ['key_file', 'key_id', 'algorithm'],
      properties: {
        key_file: FILE,
        key_id: { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
        algorithm: { type: 'string', enum: ALGORITHMS },
      },
    },
    peer_keys_file: FILE,
  },
}

/** @throws SettingsError */
export async function readMembership(file: string): Promise<ReadMembership> {
  if (file === '')
    throw new SettingsError('ISO20022_FILE must name a file; see src/rails/README.md')
  const given = valid(file)
  const at = (path: string): string => resolve(dirname(resolve(file)), path)
  const tell = <Value>(member: string, read: () => Value): Value => {
    try {
      return read()
    } catch (error) {
      throw new SettingsError(`ISO20022_FILE ${file}, ${member}: ${messageOf(error)}`)
    }
  }
  const secret = (path: string): string => readSecretFile(at(path), { isNamed: true })
  const { tls, signing } = given
  const signingKey = tell('signing.key_file', () => {
    const pem = secret(signing.key_file)
    createPrivateKey(pem)
    return pem
  })
  return {
    ...{ agent: given.member_id, switch: given.peer_id, environment: given.environment },
    debtor: { name: given.account.name, account: given.account.number },
    ...{ sendTo: given.send_to, listen: given.listen },
    finalityWindowMs: given.finality_window_ms,
    tls: {
      cert: tell('tls.cert_file', () => readFileSync(at(tls.cert_file), 'utf8')),
      key: tell('tls.key_file', () => secret(tls.key_file)),
      ca: tell('tls.ca_file', () => readFileSync(at(tls.ca_file), 'utf8')),
    },
    signer: await createSigner(signingKey, signing.key_id, signing.algorithm).catch(() => {
      throw new SettingsError(`ISO20022_FILE ${file}, signing: not a key for the algorithm`)
    }),
    verifier: tell('peer_keys_file', () => {
      const keys = JSON.parse(readFileSync(at(given.peer_keys_file), 'utf8')) as PublicKeys
      return createVerifier(keys)
    }),
  }
}

function valid(file: string): MembershipFile {
  let given: unknown
  try {
    given = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new SettingsError(`ISO20022_FILE ${file}: ${messageOf(error)}`)
  }
  const isValid = new Ajv().compile(SCHEMA)
  if (isValid(given)) return given
  const [fault] = isValid.errors ?? []
  const cause = `${fault?.instancePath ?? ''} ${fault?.message ?? ''}`
  throw new SettingsError(`ISO20022_FILE ${file}: ${cause}`)
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
