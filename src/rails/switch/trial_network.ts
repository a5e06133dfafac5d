/**
 * The files of a network for trials: certificates, signing keys and the membership of both sides.
 *
 * - Keys are made once and have mode 0600. Addresses are written again at each start.
 * - The adapter signs with ES256, the switch with RS256.
 */
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from './certificate_authority.js'
import type { Instant } from '../../base/clock.js'
import { joinAddress } from '../../base/network.js'
import { writeSecretFile } from '../../files/secret_file.js'
import type { MembershipFile } from '../iso20022/membership_file.js'
import type { Algorithm } from '../iso20022/signature.js'

export interface TrialNetwork {
  /** ISO20022_FILE of each side. */
  readonly adapterFile: string
  readonly switchFile: string
}

export interface TrialPorts {
  readonly adapter: number
  readonly switch: number
}

const HOST = '127.0.0.1'
const FINALITY_WINDOW_MS = 3_000

interface Side {
  readonly name: 'adapter' | 'switch'
  readonly memberId: string
  readonly algorithm: Algorithm
}

const ADAPTER: Side = { name: 'adapter', memberId: 'CAUSEWAY', algorithm: 'ES256' }
const SWITCH: Side = { name: 'switch', memberId: 'SWITCH', algorithm: 'RS256' }

export function writeTrialNetwork(
  folder: string,
  ports: TrialPorts,
  now: Instant,
  finalityWindowMs = FINALITY_WINDOW_MS,
): TrialNetwork {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeSecretFile(file, text)
    return file
  }
  if (!existsSync(join(folder, 'ca.pem'))) writeKeys(write, now)
  const membership = (own: Side, peer: Side): string => {
    const file: MembershipFile = {
      ...{ environment: 'sandbox', member_id: own.memberId, peer_id: peer.memberId },
      account: { name: 'Causeway Payments', number: '0000000001' },
      send_to: `https://${joinAddress({ host: HOST, port: ports[peer.name] })}/`,
      listen: joinAddress({ host: HOST, port: ports[own.name] }),
      finality_window_ms: finalityWindowMs,
      tls: {
        ...{ cert_file: `${own.name}.cert.pem`, key_file: `${own.name}.key.pem` },
        ca_file: 'ca.pem',
      },
      signing: {
        ...{ key_file: `${own.name}.signing.pem`, key_id: keyIdOf(own) },
        algorithm: own.algorithm,
      },
      peer_keys_file: `${peer.name}.keys.json`,
    }
    return write(`${own.name}.json`, `${JSON.stringify(file, null, 2)}\n`)
  }
  return { adapterFile: membership(ADAPTER, SWITCH), switchFile: membership(SWITCH, ADAPTER) }
}

const keyIdOf = ({ memberId }: Side): string => `${memberId.toLowerCase()}-1`

/** The CA's certificate is written last: until then nothing counts as made. */
function writeKeys(write: (name: string, text: string) => string, now: Instant): void {
  const authority = createAuthority('ISO 20022 trial network', now)
  for (const side of [ADAPTER, SWITCH]) {
    const { certificate, key } = authority.issue(side.memberId)
    write(`${side.name}.cert.pem`, certificate)
    write(`${side.name}.key.pem`, key)
    const { privateKey, publicKey } =
      side.algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2_048 })
    write(
      `${side.name}.signing.pem`,
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    )
    const { algorithm: alg } = side
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: keyIdOf(side), alg, use: 'sig' }
    write(`${side.name}.keys.json`, `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`)
  }
  write('ca.pem', authority.certificate)
}
