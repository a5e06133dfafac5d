/**
 * What the processor does without being asked: timers, expiry, retention, erasures, inquiries, the
 * relay to the bus, the settings for all shards, and the monitors.
 *
 * - Payments move by themselves only when the books are verified, and never in recovery mode.
 * - The monitors watch in every mode.
 */
import { systemPause } from '../base/clock.js'
import type { Logger } from '../base/log.js'
import type { Settings } from '../settings/settings.js'
import { createSteadyClock } from '../base/steady_clock.js'
import { CLOCK_LIMIT_MS } from '../store/postgres/server_clock.js'
import { createBeneficiaryExpiry } from './background/beneficiary_expiry.js'
import { createKeyExpiry } from './background/key_expiry.js'
import { createKeyIndexMoves } from './background/key_index_moves.js'
import type { LateRelay } from './background/late_relay.js'
import type { MovedReports } from './background/moved_reports.js'
import { createOpenWorkMonitor, type OpenWorkMonitor } from './background/open_work_monitor.js'
import { compareUnsubmitted } from './background/orphan_comparison.js'
import { createOrphanInquiries } from './background/orphan_inquiries.js'
import type { RailLinks } from './background/rail_links.js'
import type { Recovery } from './background/recovery.js'
import { createRetention, type Retention } from './background/retention.js'
import {
  createStuckPaymentMonitor,
  type StuckPaymentMonitor,
} from './background/stuck_payment_monitor.js'
import { createTimers, type Timers } from './background/timers.js'
import { createUserErasures } from './background/user_erasures.js'
import { createUserExpiry } from './background/user_expiry.js'
import type { Memory } from './cache/memory.js'
import type { Member } from './cluster/member.js'
import { createSharedSettings, type SharedSettings } from './cluster/shared_settings.js'
import type { BooksClock } from './cycle/books_clock.js'
import type { Pipeline } from './cycle/pipeline.js'

export interface BackgroundWorkOptions {
  readonly settings: Settings
  readonly clock: BooksClock
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly recovery: Recovery
  readonly memory: Memory
  readonly pipeline: Pipeline
  readonly rail: RailLinks
  readonly relay: LateRelay
  readonly member: Member | undefined
  /** Undefined without a cluster. */
  readonly movedReports: MovedReports | undefined
  /** A setting for all shards cannot be applied, or can again. */
  readonly onSettingsFault: () => void
  /** The rails change that the file does not name and that have open payments. */
  readonly onUnnamedRails: () => void
  /** Work that would begin while the process stops does not. */
  readonly isStopping: () => boolean
  /** The work cannot begin: this process must not serve. */
  readonly failed: (reason: string, error: unknown) => void
  readonly log: Logger
}

export interface BackgroundWork {
  readonly timers: Timers
  readonly retention: Retention
  readonly openWork: OpenWorkMonitor
  readonly stuckPaymentMonitor: StuckPaymentMonitor
  /** Undefined in recovery mode, and without a cluster. */
  readonly sharedSettings: SharedSettings | undefined
  /** Resolves once payments are compared with orphan executions, or the books are not verified. */
  start(): Promise<void>
  /** The relay goes on: it publishes what is committed until the end. */
  stop(): Promise<void>
}

export function createBackgroundWork(options: BackgroundWorkOptions): BackgroundWork {
  const { settings, clock, elapsed, recovery, memory, pipeline, rail } = options
  const { relay, member, log } = options
  const { movedReports } = options
  const { store } = recovery
  const { lists } = store
  const timers = createTimers({
    ...{ clock, store, pipeline, rail, memory, corruptRows: memory.corruptRows, log },
    pause: systemPause,
  })
  const keyExpiry = createKeyExpiry({ clock, memory, pipeline })
  const keyIndexMoves = createKeyIndexMoves({ memory, pipeline })
  const steady = createSteadyClock(clock, elapsed)
  /** The gateway refuses a request whose time is more than minutes from its clock. */
  const isSteady = (): boolean => {
    const offsetMs = store.clockOffsetMs?.() ?? null
    if (offsetMs === null) return steady.isTrusted(memory.lastSignedAt)
    return steady.isSteady() && Math.abs(offsetMs) <= CLOCK_LIMIT_MS
  }
  const retention = createRetention({
    ...{ clock, isSteady, memory, pipeline, log, lists },
    keep: {
      events: settings.EVENTS_KEEP_DAYS,
      payoutKeys: settings.PAYOUT_KEYS_KEEP_DAYS,
      otherKeys: settings.IDEMPOTENCY_KEYS_KEEP_DAYS,
      requests: settings.REQUESTS_KEEP_DAYS,
    },
  })
  const userErasures = createUserErasures({ clock, memory, pipeline, log, lists })
  const userExpiry = createUserExpiry({
    ...{ clock, isSteady, memory, pipeline, log, lists },
    keepDays: settings.USERS_KEEP_DAYS,
  })
  const beneficiaryExpiry = createBeneficiaryExpiry({
    ...{ clock, isSteady, pipeline, log, lists },
    keepDays: settings.BENEFICIARIES_KEEP_DAYS,
  })
  const orphanInquiries = createOrphanInquiries({ memory, rails: rail })
  const sharedSettings =
    member && !recovery.isActive
      ? createSharedSettings({
          ...{ shard: member.shard, cluster: member.settings, memory, pipeline, log },
          onFault: options.onSettingsFault,
        })
      : undefined
  const stuckPaymentMonitor = createStuckPaymentMonitor({ clock, lists, log })
  const openWork = createOpenWorkMonitor({
    ...{ clock, lists, rails: rail.names, log },
    onUnnamedRails: options.onUnnamedRails,
  })

  async function movePayments(): Promise<void> {
    if (recovery.isActive) return
    await compareUnsubmitted({ store, memory, pipeline, log })
    if (options.isStopping()) return
    relay.start()
    timers.start()
    keyExpiry.start()
    keyIndexMoves.start()
    retention.start()
    userErasures.start()
    userExpiry.start()
    beneficiaryExpiry.start()
    orphanInquiries.start()
    movedReports?.start()
  }

  return {
    ...{ timers, retention, openWork, stuckPaymentMonitor, sharedSettings },
    start: async () => {
      if (recovery.isVerified()) await movePayments()
      else {
        recovery.onVerified(() => {
          movePayments().catch((error: unknown) =>
            options.failed('payments could not be compared with orphan executions', error),
          )
        })
      }
      stuckPaymentMonitor.start()
      openWork.start()
    },
    stop: async () => {
      keyExpiry.stop()
      keyIndexMoves.stop()
      orphanInquiries.stop()
      await retention.stop()
      await userExpiry.stop()
      await beneficiaryExpiry.stop()
      await userErasures.stop()
      await timers.stop()
      await movedReports?.stop()
      await sharedSettings?.stop()
      await stuckPaymentMonitor.stop()
      await openWork.stop()
    },
  }
}
