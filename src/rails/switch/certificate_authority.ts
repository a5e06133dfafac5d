/**
 * X.509 certificates for tests and trials: a CA that signs certificates for names on this machine.
 *
 * - Written here in DER, because the machine may lack openssl.
 * - The key of a CA is never stored: no certificate can be added later.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type { Instant } from '../../base/clock.js'

const DAY_MS = 86_400_000

export interface Authority {
  /** PEM. */
  readonly certificate: string
  issue(name: string, options?: IssueOptions): Pair
  /** A CA below this one. */
  issueAuthority(name: string): Authority
}

export interface Pair {
  readonly certificate: string
  readonly key: string
}

export interface IssueOptions {
  /** Default: two days ago. */
  readonly notBefore?: Date
  /** Default: ten years ahead. */
  readonly notAfter?: Date
  /** Default: the name and localhost; and the address 127.0.0.1. */
  readonly dnsNames?: readonly string[]
  readonly addresses?: readonly string[]
  /** Default: an elliptic curve. */
  readonly keyType?: 'rsa'
}

export const createAuthority = (name: string, now: Instant): Authority =>
  authorityBy(undefined, name, now)

interface Issuer {
  readonly subject: Buffer
  readonly privateKey: KeyObject
}

/** @param issuer undefined if it issues itself */
function authorityBy(issuer: Issuer | undefined, name: string, now: Instant): Authority {
  const { privateKey, publicKey } = newKey()
  const subject = nameOf(name)
  const critical = element(0x01, Buffer.of(0xff))
  const isCa = extension([2, 5, 29, 19], sequence(critical), critical)
  const { subject: by, privateKey: key } = issuer ?? { subject, privateKey }
  const certificate = signed({ subject, issuer: by, publicKey, by: key, now }, [isCa])
  return {
    certificate,
    issueAuthority: (below) => authorityBy({ subject, privateKey }, below, now),
    issue: (
      common,
      {
        notBefore,
        notAfter,
        dnsNames = [common, 'localhost'],
        addresses = ['127.0.0.1'],
        keyType,
      } = {},
    ) => {
      const own = keyType === 'rsa' ? newRsaKey() : newKey()
      const names = [
        ...dnsNames.map((dns) => element(0x82, Buffer.from(dns))),
        ...addresses.map((ip) => element(0x87, Buffer.from(ip.split('.').map(Number)))),
      ]
      const given = {
        ...{ subject: nameOf(common), issuer: subject, publicKey: own.publicKey },
        ...{ notBefore, notAfter, now },
      }
      return {
        certificate: signed({ ...given, by: privateKey }, [
          extension([2, 5, 29, 17], sequence(...names)),
        ]),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const newRsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 })

interface Contents {
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly publicKey: KeyObject
  readonly by: KeyObject
  readonly now: Instant
  readonly notBefore?: Date | undefined
  readonly notAfter?: Date | undefined
}

const ECDSA_WITH_SHA256 = [1, 2, 840, 10045, 4, 3, 2]

function signed(contents: Contents, extensions: readonly Buffer[]): string {
  const { subject, issuer, publicKey, by } = contents
  const algorithm = sequence(oid(ECDSA_WITH_SHA256))
  const { now, notAfter = new Date(now + 3_650 * DAY_MS) } = contents
  const { notBefore = new Date(now - 2 * DAY_MS) } = contents
  const body = sequence(
    element(0xa0, element(0x02, Buffer.of(2))), // version 3
    element(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  )
  const signature = element(0x03, Buffer.concat([Buffer.of(0), sign('sha256', body, by)]))
  const base64 = sequence(body, algorithm, signature).toString('base64')
  const lines = base64.match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : [0x82, Math.floor(length / 0x100), length % 0x100]
  return Buffer.concat([Buffer.of(tag, ...size), body])
}

const sequence = (...parts: readonly Buffer[]): Buffer => element(0x30, ...parts)

function oid([first = 0, second = 0, ...others]: readonly number[]): Buffer {
  const base128 = (value: number): number[] => {
    const bytes = [value % 128]
    for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
      bytes.unshift((left % 128) + 128)
    return bytes
  }
  return element(0x06, Buffer.of(first * 40 + second, ...others.flatMap(base128)))
}

const nameOf = (common: string): Buffer =>
  sequence(element(0x31, sequence(oid([2, 5, 4, 3]), element(0x0c, Buffer.from(common)))))

const time = (at: Date): Buffer =>
  element(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, '')))

const extension = (id: readonly number[], value: Buffer, ...critical: readonly Buffer[]): Buffer =>
  sequence(oid(id), ...critical, element(0x04, value))
