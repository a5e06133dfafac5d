/**
 * `production check`: settings that are dangerous in production, and what a running processor
 * shows: callers, routes, partners and rates.
 *
 * - A setting is judged as it would be in production, also where no production host is set.
 * - A processor that is not seen is a finding too: its callers, routes and partners are not
 *   checked.
 */
import type { CallerRecord__Output as CallerRecord } from '../../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { PartnerRecord__Output as PartnerRecord } from '../../../protos/types/causeway/operator/v1/PartnerRecord.js'
import type { RateRecord__Output as RateRecord } from '../../../protos/types/causeway/operator/v1/RateRecord.js'
import type { Route__Output as Route } from '../../../protos/types/causeway/operator/v1/Route.js'
import type { ProtoGrpcType as CallersProto } from '../../../protos/types/callers.js'
import type { ProtoGrpcType as OperatorProto } from '../../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../../protos/types/partners.js'
import { OPERATOR_ROLES } from '../../auth/caller.js'
import { configuredCaller } from '../../auth/callers.js'
import { DAY, systemClock } from '../../base/clock.js'
import { isLoopback } from '../../base/network.js'
import { processorAddresses } from '../../grpc/processor_addresses.js'
import { contracts } from '../../grpc/contracts.js'
import type { Settings } from '../../settings/settings.js'
import { callsToOne, type Calls, type OperatorAccess, type Service } from '../calls/calls.js'
import type { LocalCommand, Report } from '../cli/command.js'
import { operatorAccess } from '../calls/operator_token.js'
import { findSandbox } from '../calls/sandbox.js'
import { table } from '../cli/terminal.js'

export interface Finding {
  readonly finding: string
  readonly why: string
  readonly remedy: string
}

export const productionCheck: LocalCommand = {
  usage: 'production check',
  about: 'what is dangerous in production: settings, callers, routes; exit code 1 if anything is',
  runLocally: async (paint, settings) => {
    const given = settings()
    const findings = [...findingsOfSettings(given), ...(await findingsOfProcessors(given))]
    return reportOf(findings, (text) => paint('strong', text))
  },
}

const reportOf = (findings: readonly Finding[], strong: (text: string) => string): Report => ({
  value: { findings },
  lines: linesOf(findings, strong),
  exitCode: findings.length === 0 ? 0 : 1,
})

export function linesOf(
  findings: readonly Finding[],
  strong: (text: string) => string,
): readonly string[] {
  if (findings.length === 0) return ['Nothing dangerous is found.']
  const head = ['finding', 'why', 'what to do']
  const rows = findings.map(({ finding, why, remedy }) => [finding, why, remedy])
  const sum = strong(findings.length === 1 ? '1 finding' : `${findings.length} findings`)
  return [table([head, ...rows], []), '', sum]
}

interface SettingCheck extends Finding {
  readonly applies: (settings: Settings) => boolean
}

const isFar = (host: string): boolean => !isLoopback(host)

const OPEN_PROXY = /\/0$/

/** In the order of the settings. `finding` has the value that is dangerous. */
export const SETTING_CHECKS: readonly SettingCheck[] = [
  {
    applies: ({ SECOND_OPERATOR_FROM }) => SECOND_OPERATOR_FROM.length === 0,
    finding: 'SECOND_OPERATOR_FROM is empty',
    why: 'one operator can credit, pay out and create callers alone',
    remedy: 'set amounts, e.g. USD:1000000, once two operators can decide',
  },
  {
    applies: ({ RATE_MAX_AGE_S }) => RATE_MAX_AGE_S === 0,
    finding: 'RATE_MAX_AGE_S=0',
    why: 'a rate that was last set weeks ago is still quoted',
    remedy: 'set the longest time between two rates, e.g. 86400',
  },
  {
    applies: ({ SPREAD_BPS }) => SPREAD_BPS === 0,
    finding: 'SPREAD_BPS=0',
    why: 'a move of the market between rate and payment is a loss of ours',
    remedy: 'set a spread that covers it, e.g. 100',
  },
  {
    applies: ({ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: allowed }) => allowed === 'yes',
    finding: 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes',
    why: 'payments are reported as executed although no money moves',
    remedy: 'connect a real rail; set it to no',
  },
  {
    applies: ({ SCREENING_ADDRESS }) => SCREENING_ADDRESS === '',
    finding: 'SCREENING_ADDRESS is empty',
    why: 'payouts and payments are accepted without a check for compliance and risk',
    remedy: 'name a screening service that implements protos/screening.proto',
  },
  {
    applies: ({ RATE_LIMIT }) => RATE_LIMIT === 'off',
    finding: 'RATE_LIMIT=off',
    why: 'one caller can take the capacity of all',
    remedy: 'set it to on',
  },
  {
    applies: ({ DUPLICATE_SCAN_WINDOW_S }) => DUPLICATE_SCAN_WINDOW_S === 0,
    finding: 'DUPLICATE_SCAN_WINDOW_S=0',
    why: 'a user who scans twice pays twice without being asked',
    remedy: 'set it, e.g. to 60',
  },
  {
    applies: ({ TH_LIMIT_TRANSACTION_THB: one, TH_LIMIT_DAY_THB: day, ...limits }) =>
      one > day || day > limits.TH_LIMIT_MONTH_THB,
    finding: 'TH_LIMIT_… of a shorter time exceeds that of a longer one',
    why: 'it has no effect: one of them is probably mistyped',
    remedy: 'compare the limits of a transaction, a day and a month',
  },
  {
    applies: ({ WEBHOOK_ALLOW_PRIVATE }) => WEBHOOK_ALLOW_PRIVATE,
    finding: 'WEBHOOK_ALLOW_PRIVATE=true',
    why: 'partners can make us call addresses inside our network, without TLS',
    remedy: 'set it to false',
  },
  {
    applies: ({ DISK_RESERVE_MB }) => DISK_RESERVE_MB === 0,
    finding: 'DISK_RESERVE_MB=0',
    why: 'a full disk ends the processor in the middle of payments',
    remedy: 'set it, e.g. to 256',
  },
  {
    applies: ({ MASTER_KEY_FILE }) => MASTER_KEY_FILE === '',
    finding: 'MASTER_KEY_FILE is empty',
    why: 'the master key lies beside the books that it decrypts, also in a backup',
    remedy: 'keep it elsewhere and name it',
  },
  {
    applies: ({ STORE, STORE_URL }) => STORE === 'postgres' && STORE_URL === '',
    finding: 'STORE=postgres without STORE_URL',
    why: 'the bundled PostgreSQL is one server without a standby',
    remedy: 'set STORE_URL to servers that you operate',
  },
  {
    applies: ({ NATS_URL }) => NATS_URL.startsWith('nats://') && hostsOf(NATS_URL).some(isFar),
    finding: 'NATS_URL is nats:// beyond loopback',
    why: 'events and the password of the bus travel in the clear',
    remedy: 'use tls:// and the NATS_TLS_… settings',
  },
  {
    applies: ({ OPS_HOST }) => isFar(OPS_HOST),
    finding: 'OPS_HOST is beyond loopback',
    why: 'health and metrics need no credential',
    remedy: 'only your monitoring may reach it: a firewall, or loopback',
  },
  {
    applies: ({ TRUSTED_PROXIES }) => TRUSTED_PROXIES.some((range) => OPEN_PROXY.test(range)),
    finding: 'TRUSTED_PROXIES contains every address',
    why: 'a caller can forge its address, and pass the list of a partner',
    remedy: 'name the addresses of your proxies',
  },
  {
    applies: ({ RECOVERY }) => RECOVERY === 'yes',
    finding: 'RECOVERY=yes',
    why: 'the next start begins recovery mode, which only reads',
    remedy: 'remove it after the release',
  },
  {
    applies: ({ LOG_LEVEL }) => LOG_LEVEL === 'silent' || LOG_LEVEL === 'error',
    finding: 'LOG_LEVEL hides warnings',
    why: 'stale rates, a full disk and lost peers are not seen',
    remedy: 'set it to info',
  },
]

const hostsOf = (url: string): string[] =>
  url.split(',').map((each) => {
    const address = each.replace(/^[a-z]+:\/\//, '').replace(/^.*@/, '')
    return address.replace(/:\d+\/?$/, '').replace(/^\[(.*)\]$/, '$1')
  })

export function findingsOfSettings(settings: Settings): readonly Finding[] {
  const found = SETTING_CHECKS.filter(({ applies }) => applies(settings)).map(
    ({ finding, why, remedy }) => ({ finding, why, remedy }),
  )
  return [...found, ...findingsOfConfigured(settings)]
}

function findingsOfConfigured({ CALLERS, GRPC_HOST }: Settings): readonly Finding[] {
  const configured = CALLERS.map(configuredCaller)
  const byToken = configured.filter(({ credential }) => credential === 'sha256')
  if (byToken.length === 0 || isLoopback(GRPC_HOST)) return []
  const names = byToken.map(({ caller }) => caller.name).join(', ')
  return [
    {
      finding: `CALLERS has tokens, with GRPC_HOST beyond loopback: ${names}`,
      why: 'a copied token works from every machine until it is rotated',
      remedy: 'name the common names of their client certificates instead',
    },
  ]
}

/** A file that prevents the calls, such as a certificate, is a finding. */
export const findingsOfProcessors = (settings: Settings): Promise<readonly Finding[]> =>
  findingsOfReached(settings).catch((error: unknown) => [notSeen(messageOf(error))])

async function findingsOfReached(settings: Settings): Promise<readonly Finding[]> {
  const sandbox = findSandbox(settings)
  if (sandbox === undefined && settings.OPERATOR_TOKEN_FILE === '') {
    return [notSeen(`no stack has run with DATA_DIR=${settings.DATA_DIR}`)]
  }
  const access = operatorAccess(sandbox, settings)
  const { PROCESSORS } = settings
  const addresses =
    PROCESSORS.length === 0 ? [access.address] : await processorAddresses(PROCESSORS)
  const all = await Promise.all(
    addresses.map((address) => findingsOfProcessor({ ...access, address }, settings)),
  )
  // Shards have the same rates and default routes.
  return [...new Map(all.flat().map((each) => [each.finding, each])).values()]
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const notSeen = (reason: string): Finding => ({
  finding: `a processor was not seen: ${reason}`,
  why: 'its callers, routes, rates and partners are not checked',
  remedy: 'run the stack, or set PROCESSOR_ADDRESS and OPERATOR_TOKEN_FILE',
})

async function findingsOfProcessor(
  access: OperatorAccess,
  settings: Settings,
): Promise<readonly Finding[]> {
  const { Callers, Operator, PartnerAdmin } = contracts<
    CallersProto & OperatorProto & PartnersProto
  >().causeway.operator.v1
  const open = <D>(of: Service<D>): Calls<D> => callsToOne(of, access, systemClock)
  const [callers, operator, partners] = [open(Callers), open(Operator), open(PartnerAdmin)] as const
  try {
    const [known, routes, rates, listed] = await Promise.all([
      callers.call('List', {}),
      operator.call('ListRoutes', {}),
      operator.call('ListRates', {}),
      partners.call('List', {}),
    ])
    return [
      ...findingsOfCallers(known.data, settings),
      ...findingsOfRoutes(routes.data),
      ...findingsOfRates(rates.data),
      ...findingsOfPartners(listed.data),
    ]
  } catch (error) {
    return [notSeen(messageOf(error))]
  } finally {
    callers.close()
    operator.close()
    partners.close()
  }
}

function findingsOfCallers(
  callers: readonly CallerRecord[],
  { SECOND_OPERATOR_FROM }: Settings,
): readonly Finding[] {
  const active = callers.filter(({ status }) => status === 'active')
  const operators = active.filter(({ kind }) => kind === 'operator')
  const every = operators.filter(({ roles }) =>
    OPERATOR_ROLES.every((role) => roles.includes(role)),
  )
  const deciding = operators.filter(({ roles }) => roles.includes('decide'))
  const unbound = active.filter(({ kind, partners }) => kind === 'service' && partners.length === 0)
  return [
    ...findingOf(every.map(nameOf), {
      finding: 'one person with every role',
      why: 'the same person can change routes, rates and keys, and move money',
      remedy: 'create operators with fewer roles; revoke it',
    }),
    ...findingOf(deciding.length < 2 && SECOND_OPERATOR_FROM.length > 0 ? [''] : [], {
      finding: `${deciding.length} operators can decide`,
      why: 'a request of one operator has no second one to approve it',
      remedy: 'callers create operator NAME --roles decide',
    }),
    ...findingOf(unbound.map(nameOf), {
      finding: 'internal services for all partners',
      why: 'their credential pays for every partner',
      remedy: 'create them with --partners; revoke these',
    }),
  ]
}

const nameOf = ({ name }: CallerRecord): string => name

/** The finding with what it is about; none about nothing. */
function findingOf(about: readonly string[], { finding, ...rest }: Finding): readonly Finding[] {
  if (about.length === 0) return []
  const named = about.filter((name) => name !== '').join(', ')
  return [{ finding: named === '' ? finding : `${finding}: ${named}`, ...rest }]
}

/** Those that production can use. */
function findingsOfRoutes(routes: readonly Route[]): readonly Finding[] {
  const used = routes.filter(
    ({ enabled, included, tenant }) =>
      enabled && included !== true && tenant?.environment !== 'sandbox',
  )
  const without = (bound: 'review_from' | 'amount_max'): string[] =>
    used.filter((route) => route[bound] === undefined).map(routeName)
  return [
    ...findingOf(without('review_from'), {
      finding: 'routes without review_from',
      why: 'a payout of any amount is submitted without a review',
      remedy: 'routes set with review_from',
    }),
    ...findingOf(without('amount_max'), {
      finding: 'routes without amount_max',
      why: 'one payout can take the whole balance of a partner',
      remedy: 'routes set with amount_max',
    }),
  ]
}

function routeName({ tenant, country, currency }: Route): string {
  const owner = tenant ? `${tenant.partner_id}_${tenant.environment}` : 'all partners'
  return `${owner} ${country} ${currency}`
}

/** Older rates were probably forgotten. */
const OLD_RATE_MS = DAY

function findingsOfRates(rates: readonly RateRecord[]): readonly Finding[] {
  const isOld = ({ set_at: at }: RateRecord): boolean =>
    at !== '' && systemClock.now() - Date.parse(at) > OLD_RATE_MS
  return findingOf(
    rates
      .filter(({ environment }) => environment === 'production')
      .filter((rate) => isOld(rate) && !rate.is_too_old)
      .map(({ currency }) => currency),
    {
      finding: 'rates older than a day that are still quoted',
      why: 'every payment is at a price of the past',
      remedy: 'rates set; RATE_MAX_AGE_S',
    },
  )
}

function findingsOfPartners(partners: readonly PartnerRecord[]): readonly Finding[] {
  const open = partners.filter(({ allowed_ips }) => allowed_ips.length === 0)
  return findingOf(open.length === 0 ? [] : [`${open.length} of ${partners.length}`], {
    finding: 'partners that may call production from any address',
    why: 'a copied signing key works from everywhere',
    remedy: 'partner allow-ips NAME CIDRS, before a key of production is issued',
  })
}
