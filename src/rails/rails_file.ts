/**
 * Reads the rails of RAILS_FILE, with their addresses, TLS files and token files.
 *
 * Owns: the form of the file, its rules and their sentences. Does not own: what a rail carries
 * (rail_table), the connection (client).
 *
 * - Without the setting there is one rail: the sandbox, at RAIL_ADDRESS.
 * - A fault names the file, the line or the rail, and the rule; nothing is guessed or left out.
 * - Paths in the file are relative to its folder.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ENVIRONMENTS } from '../base/ids.js'
import { isLocalAddress } from '../base/network.js'
import { readTokenFile } from '../files/secret_file.js'
import { ADDRESS } from '../settings/setting_kinds.js'
import type { Settings } from '../settings/settings.js'
import { SettingsError } from '../settings/settings_reader.js'
import type { TlsSettings } from '../grpc/tls.js'
import { isCorridor } from '../qr/corridor.js'
import { ANY, isPayoutRoute, sandboxRail, type RailEntry } from './rail_table.js'

type RailSettings = Pick<
  Settings,
  | 'RAILS_FILE'
  | 'RAIL_ADDRESS'
  | 'RAIL_TOKEN'
  | 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION'
  | 'GRPC_TLS_CERT_FILE'
>

export interface ConfiguredRail extends RailEntry {
  /** `unix:/path.sock` or `host:port`. */
  readonly address: string
  readonly token: string
  /** Null means the certificate and the CA of this process. */
  readonly tls: TlsSettings | null
  /** At RAIL_ADDRESS with RAIL_TOKEN, as `make run` sets them. */
  readonly isIncluded: boolean
}

export type ConfiguredRails = readonly [ConfiguredRail, ...ConfiguredRail[]]

/** @throws SettingsError with every fault of the file */
export function readRails(settings: RailSettings): ConfiguredRails {
  const { RAILS_FILE: file, RAIL_ADDRESS: address, RAIL_TOKEN: token } = settings
  if (file === '') {
    const entry = sandboxRail(settings.ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes')
    return [{ ...entry, address, token, tls: null, isIncluded: true }]
  }
  const text = textOf(file)
  const listed = entriesIn(file, text)
  const lines = linesOfEntries(text)
  const faults: string[] = []
  const read = listed.map((given, i) => {
    const name = isRecord(given) && typeof given['name'] === 'string' ? ` (${given['name']})` : ''
    const entry = `line ${lines[i]}, rail ${i + 1}${name}`
    const tell = (rule: string): void => void faults.push(`${entry}: ${rule}`)
    return railIn(given, { settings, folder: dirname(resolve(file)), tell })
  })
  const rails = read.filter((rail) => rail !== undefined)
  faults.push(...repetitions(rails))
  const [first, ...others] = rails
  if (first === undefined && faults.length === 0) faults.push('"rails" must name at least one rail')
  if (first === undefined || faults.length > 0) {
    throw new SettingsError(faults.map((fault) => `RAILS_FILE ${file}, ${fault}`).join('\n'))
  }
  return [first, ...others]
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SettingsError(`RAILS_FILE ${file} cannot be read: ${messageOf(error)}`)
  }
}

function entriesIn(file: string, text: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new SettingsError(`RAILS_FILE ${file}, ${lineIn(text, error)}is not JSON`)
  }
  if (isRecord(value) && Object.keys(value).join() === 'rails' && Array.isArray(value['rails'])) {
    return value['rails'] as readonly unknown[]
  }
  throw new SettingsError(`RAILS_FILE ${file} must be {"rails": […]}`)
}

/** The line on which each element of `{"rails": […]}` begins, from 1. @param text such JSON */
function linesOfEntries(text: string): readonly number[] {
  const lines: number[] = []
  let [line, depth, isNext] = [1, 0, false]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},\n]|[^[\]{},\s"]+/g)) {
    if (token === '\n') line += 1
    else if (token === ',') isNext = depth === 2
    else {
      if (isNext && token !== ']') lines.push(line)
      isNext = false
      if (token === '[' || token === '{') {
        depth += 1
        isNext = depth === 2
      } else if (token === ']' || token === '}') depth -= 1
    }
  }
  return lines
}

/** Node tells the position within the text in its message, and not for every fault. */
function lineIn(text: string, error: unknown): string {
  const [, found] = /position (\d+)/.exec(messageOf(error)) ?? []
  const position = found === undefined ? text.length : Number(found)
  return `line ${text.slice(0, position).split('\n').length}: it `
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

interface Reading {
  readonly settings: RailSettings
  readonly folder: string
  /** Takes a rule that the rail breaks. */
  readonly tell: (rule: string) => void
}

type Given = Readonly<Record<string, unknown>>

const MEMBERS = [
  ...['name', 'environments', 'payouts', 'corridors', 'sandbox', 'address', 'token_file', 'tls'],
]
const NAME = /^[a-z][a-z0-9_-]{0,31}$/

/** @returns undefined when it has a fault, which was told */
function railIn(given: unknown, reading: Reading): ConfiguredRail | undefined {
  if (!isRecord(given)) return void reading.tell('it must be an object')
  const entry = entryIn(given, reading)
  const connection =
    given['address'] === undefined ? includedIn(given, reading) : connectionIn(given, reading)
  return entry && connection && { ...entry, ...connection }
}

function entryIn(given: Given, { settings, tell }: Reading): RailEntry | undefined {
  const { name, environments, payouts = [], corridors = [], sandbox = false } = given
  const isProduction = Array.isArray(environments) && environments.includes('production')
  const mayCarryProduction = settings.ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes'
  const unknown = Object.keys(given).filter((member) => !MEMBERS.includes(member))
  const rules: readonly (readonly [isKept: boolean, rule: string])[] = [
    [unknown.length === 0, `it may have only ${MEMBERS.join(', ')}, not ${unknown.join(', ')}`],
    [
      typeof name === 'string' && NAME.test(name),
      'name must be 1 to 32 of a-z, 0-9, _ and -, beginning with a letter',
    ],
    [
      isListOf(environments, isEnvironment) && environments.length > 0,
      'environments must be a list of "sandbox" and "production"',
    ],
    [
      payouts === ANY || isListOf(payouts, isPayoutRoute),
      'payouts must be "any" or a list of country/currency, e.g. "TH/THB"',
    ],
    [
      corridors === ANY || isListOf(corridors, isCorridor),
      'corridors must be "any" or a list of corridors, e.g. "th_promptpay"',
    ],
    [!isEmpty(payouts) || !isEmpty(corridors), 'it must carry payouts or corridors'],
    [typeof sandbox === 'boolean', 'sandbox must be true or false'],
    [
      sandbox !== true || !isProduction || mayCarryProduction,
      'a sandbox rail moves no real money: take "production" out of its environments, or set ' +
        'ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out',
    ],
  ]
  const broken = rules.filter(([isKept]) => !isKept)
  for (const [, rule] of broken) tell(rule)
  if (broken.length > 0) return undefined
  return {
    name: name as string,
    environments: environments as RailEntry['environments'],
    payouts: payouts as RailEntry['payouts'],
    corridors: corridors as RailEntry['corridors'],
    isSandbox: sandbox === true,
  }
}

type Connection = Omit<ConfiguredRail, keyof RailEntry>

function includedIn(given: Given, { settings, tell }: Reading): Connection | undefined {
  const { RAIL_ADDRESS: address, RAIL_TOKEN: token } = settings
  if (given['sandbox'] !== true) {
    tell('without an address it is the included sandbox rail, which needs "sandbox": true')
  } else if (given['token_file'] !== undefined || given['tls'] !== undefined) {
    tell('token_file and tls are only allowed together with an address')
  } else return { address, token, tls: null, isIncluded: true }
  return undefined
}

function connectionIn(given: Given, { settings, folder, tell }: Reading): Connection | undefined {
  const { address, token_file: tokenFile, tls: tlsFiles } = given
  const tls = tlsFiles === undefined ? null : tlsIn(tlsFiles, folder)
  if (tls === undefined) return void tell('tls must have the paths cert_file, key_file, ca_file')
  if (typeof address !== 'string' || !ADDRESS.test(address)) {
    return void tell('address must be host:port or unix:/path')
  }
  const isClear = tls === null && settings.GRPC_TLS_CERT_FILE === ''
  if (isClear && !isLocalAddress(address)) {
    return void tell(
      'address is beyond this machine, which needs tls or the GRPC_TLS_… files: credentials ' +
        'would cross the network in the clear',
    )
  }
  if (typeof tokenFile !== 'string' || tokenFile === '') {
    return void tell('token_file must be the path of the file with the token for this rail')
  }
  try {
    const token = readTokenFile(resolve(folder, tokenFile), { isNamed: true })
    return { address, token, tls, isIncluded: false }
  } catch (error) {
    return void tell(`token_file: ${messageOf(error)}`)
  }
}

const TLS_MEMBERS = ['ca_file', 'cert_file', 'key_file']

function tlsIn(given: unknown, folder: string): TlsSettings | undefined {
  if (!isRecord(given) || Object.keys(given).sort().join() !== TLS_MEMBERS.join()) return undefined
  const [ca, cert, key] = TLS_MEMBERS.map((member) => given[member])
  if (typeof ca !== 'string' || typeof cert !== 'string' || typeof key !== 'string')
    return undefined
  return {
    GRPC_TLS_CA_FILE: resolve(folder, ca),
    GRPC_TLS_CERT_FILE: resolve(folder, cert),
    GRPC_TLS_KEY_FILE: resolve(folder, key),
  }
}

/** Two entries at one address would get the reports of each other. */
function repetitions(rails: readonly ConfiguredRail[]): readonly string[] {
  const repeated = (member: 'name' | 'address'): string[] => {
    const values = rails.map((rail) => rail[member])
    return [...new Set(values.filter((value, i) => values.indexOf(value) !== i))].map(
      (value) => `two rails have the ${member} ${value}`,
    )
  }
  return [...repeated('name'), ...repeated('address')]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const isListOf = (value: unknown, isOne: (text: string) => boolean): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && isOne(each))

const isEnvironment = (text: string): boolean => ENVIRONMENTS.some((each) => each === text)
