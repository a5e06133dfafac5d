/**
 * The checklist: what is checked, in this order.
 *
 * From the files up: what is broken below makes what is above it doubtful, so the first thing that
 * is broken is the one to look at.
 */
import type { Check } from './check.js'
import { payoutAmountsAddUp, quotesFollowTheirRate, reservedIsUnderWay } from './checks/amounts.js'
import {
  deliveriesAreCounted,
  deliveriesHaveNoGap,
  poolTellsWhatHappened,
  settledEventsHaveEnded,
} from './checks/deliveries.js'
import {
  bodiesSayWhatHappened,
  disablingsHaveEvents,
  noOrphanEvents,
  sequencesHaveNoGap,
  everyTransitionHasEvent,
} from './checks/events.js'
import { filesAreWhole, textsAreJson } from './checks/files.js'
import {
  keysAreFoundAgain,
  idempotencyRowsResolve,
  payoutsKeepTheirKey,
} from './checks/idempotency.js'
import {
  balancesRecompute,
  nothingIsOverdrawn,
  postingsSumToZero,
  runningBalancesFollow,
} from './checks/ledger.js'
import { limitsCountConfirmations } from './checks/limits.js'
import {
  discrepanciesArePosted,
  intentPostingsMatchLifecycle,
  payoutPostingsMatchLifecycle,
} from './checks/paths.js'
import {
  conversionsFitTheirOffer,
  depositsArePostedOnce,
  entriesShowTheirOwner,
  postingsHaveAnEntity,
} from './checks/postings.js'
import {
  railReturnsAreRefunded,
  discrepanciesAreResolvedByName,
  reversalsHaveRailReturn,
  instructionsCameUnchanged,
  instructionsWereOrdered,
  neverPaid,
  openPaidAtMostOnce,
  orphansAreExecutions,
  paidExactlyOnce,
  railLogIsThere,
} from './checks/rail.js'
import { accountsAreNotInClear, sealedWithKeptKeys, secretsAreSealed } from './checks/secrets.js'
import {
  denormalizedColumnsMatch,
  openOnesHaveATimer,
  statesFitTheirMoments,
  tenantsArePartners,
} from './checks/snapshots.js'
import { usersFindTheirIntents } from './checks/user_intents.js'

export const CHECKLIST: readonly Check[] = [
  // The files.
  filesAreWhole,
  textsAreJson,
  // The ledger by itself.
  postingsSumToZero,
  nothingIsOverdrawn,
  runningBalancesFollow,
  balancesRecompute,
  // Payouts and intents by themselves.
  denormalizedColumnsMatch,
  statesFitTheirMoments,
  openOnesHaveATimer,
  tenantsArePartners,
  payoutAmountsAddUp,
  quotesFollowTheirRate,
  // What their lives left in the other tables.
  postingsHaveAnEntity,
  entriesShowTheirOwner,
  depositsArePostedOnce,
  conversionsFitTheirOffer,
  payoutPostingsMatchLifecycle,
  intentPostingsMatchLifecycle,
  discrepanciesArePosted,
  reservedIsUnderWay,
  limitsCountConfirmations,
  everyTransitionHasEvent,
  noOrphanEvents,
  disablingsHaveEvents,
  sequencesHaveNoGap,
  bodiesSayWhatHappened,
  idempotencyRowsResolve,
  payoutsKeepTheirKey,
  keysAreFoundAgain,
  usersFindTheirIntents,
  secretsAreSealed,
  sealedWithKeptKeys,
  discrepanciesAreResolvedByName,
  // The rail's own log.
  railLogIsThere,
  paidExactlyOnce,
  neverPaid,
  openPaidAtMostOnce,
  instructionsWereOrdered,
  orphansAreExecutions,
  instructionsCameUnchanged,
  reversalsHaveRailReturn,
  railReturnsAreRefunded,
  accountsAreNotInClear,
  // The webhook pools.
  settledEventsHaveEnded,
  deliveriesAreCounted,
  deliveriesHaveNoGap,
  poolTellsWhatHappened,
]
