/**
 * The screening port over gRPC: one unary call a question, at a `unix:` path or `host:port`.
 *
 * - A call that fails is not repeated: its caller decides what follows.
 * - Nothing of a question or of an error's text is logged: both can have personal data.
 */
import { status, type ServiceError } from '@grpc/grpc-js'
import type { ScreenAnswer__Output as ScreenAnswer } from '../../protos/types/causeway/screening/v1/ScreenAnswer.js'
import type { ScreeningClient } from '../../protos/types/causeway/screening/v1/Screening.js'
import type { ProtoGrpcType } from '../../protos/types/screening.js'
import { bearer } from '../grpc/bearer.js'
import { CHANNEL } from '../grpc/channel.js'
import { openGrpcTls, type GrpcTls } from '../grpc/tls.js'
import type { Logger } from '../base/log.js'
import { contracts } from '../grpc/contracts.js'
import { readTokenFile } from '../files/secret_file.js'
import type { Settings } from '../settings/settings.js'
import { withRecentDecisions } from './recent_decisions.js'
import { isDecision, type Outcome, type Screening } from './screening.js'

/** Failures in a row before the first warning. */
const QUIET_FAILURES = 4

export interface ScreeningConnection {
  readonly address: string
  /** Empty means that the calls have none. */
  readonly token: string
  readonly tls: GrpcTls
  readonly timeoutMs: number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface ConnectedScreening extends Screening {
  /** Why the last question has no answer; null when it has one, or none was asked. */
  fault(): string | null
  close(): void
}

/**
 * @param own TLS of this process, without the SCREENING_TLS_… files
 * @returns undefined without SCREENING_ADDRESS
 */
export function screeningOf(
  settings: Settings,
  own: GrpcTls,
  log: Logger,
): ConnectedScreening | undefined {
  const { SCREENING_ADDRESS: address, SCREENING_TOKEN_FILE: tokenFile } = settings
  if (address === '') return undefined
  const files = {
    GRPC_TLS_CERT_FILE: settings.SCREENING_TLS_CERT_FILE,
    GRPC_TLS_KEY_FILE: settings.SCREENING_TLS_KEY_FILE,
    GRPC_TLS_CA_FILE: settings.SCREENING_TLS_CA_FILE,
  }
  const connected = connectScreening({
    address,
    token: tokenFile === '' ? settings.SCREENING_TOKEN : readTokenFile(tokenFile),
    tls: files.GRPC_TLS_CERT_FILE === '' ? own : openGrpcTls(files, log),
    timeoutMs: settings.SCREENING_TIMEOUT_MS,
    log,
  })
  return { ...connected, ...withRecentDecisions(connected) }
}

export function connectScreening(connection: ScreeningConnection): ConnectedScreening {
  const { address, token, tls, timeoutMs, log } = connection
  const service = contracts<ProtoGrpcType>('screening.proto').causeway.screening.v1.Screening
  const stub: ScreeningClient = new service(address, tls.channelCredentials(address), {
    ...CHANNEL,
    ...tls.channelOptions(address),
  })
  stub.getChannel().getConnectivityState(true) // connects before the first question
  const metadata = bearer(token)
  let fault: string | null = null
  let failures = 0

  const succeeded = (): void => {
    if (failures >= QUIET_FAILURES) log.info({ failures }, 'screening answers again')
    failures = 0
    fault = null
  }

  /** Warns of the 4th, 8th, 16th … failure in a row. */
  const failed = (reason: string): void => {
    fault = reason
    failures += 1
    const isPowerOfTwo = (failures & (failures - 1)) === 0
    if (isPowerOfTwo && failures >= QUIET_FAILURES)
      log.warn({ reason, failures }, 'screening does not answer; payouts are held for review')
  }

  return {
    ask: (request) =>
      new Promise((resolve) => {
        let isOpen = true
        const end = (outcome: Outcome, reason: string | null): void => {
          if (!isOpen) return
          isOpen = false
          clearTimeout(timer)
          if (reason === null) succeeded()
          else failed(reason)
          resolve(outcome)
        }
        const timer = setTimeout(() => {
          end('late', `no answer within ${timeoutMs} ms`)
          call.cancel()
        }, timeoutMs)
        const call = stub.Screen(request, metadata, (error, answer) => {
          const { outcome, reason } = read(error, answer)
          end(outcome, reason)
        })
      }),
    fault: () => fault,
    close: () => stub.close(),
  }
}

interface Read {
  readonly outcome: Outcome
  /** Null means that it is a decision. */
  readonly reason: string | null
}

function read(error: ServiceError | null, answer: ScreenAnswer | undefined): Read {
  if (error !== null) return { outcome: 'error', reason: `status ${status[error.code]}` }
  const decision = answer?.decision ?? ''
  if (isDecision(decision)) return { outcome: decision, reason: null }
  return { outcome: 'malformed', reason: 'an unknown decision' }
}
