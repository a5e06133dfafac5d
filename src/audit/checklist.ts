/**
 * The audit's checks in the order they run: files, ledger, entities, other tables, rail, webhooks.
 *
 * A violation makes later checks unreliable, so the first one is the one to examine.
 */
import type { Check } from './check.js'
import { archiveHasWhatLeft } from './checks/archive.js'
import {
  payoutAmountsAddUp,
  quotesMatchRates,
  reservedMatchesOpenPayments,
} from './checks/amounts.js'
import { actionsMatchWhatTheyMoved, approvalsAreByTwoOperators } from './checks/approvals.js'
import {
  deliveriesAreCounted,
  deliveriesAreReadable,
  deliveriesHaveNoGap,
  poolEventsMatch,
  settledEventsAreFinal,
} from './checks/deliveries.js'
import { columnsHoldTheirKind } from './checks/columns.js'
import {
  eventBodiesMatch,
  everyAnnouncementHasEvent,
  everyDisablingHasEvent,
  noOrphanEvents,
  sequencesHaveNoGap,
  everyTransitionHasEvent,
} from './checks/event_rows.js'
import { booksHaveAnOwner, filesAreIntact, textsAreJson } from './checks/files.js'
import {
  fingerprintsMatchKeys,
  idempotencyRowsResolve,
  olderKeysAreIndexed,
  payoutsHaveOneKey,
} from './checks/idempotency.js'
import {
  balancesRecompute,
  noNegativeBalances,
  postingsSumToZero,
  runningBalancesMatch,
} from './checks/ledger.js'
import { limitsCountConfirmations } from './checks/limits.js'
import {
  discrepanciesArePosted,
  intentPostingsMatchLifecycle,
  payoutPostingsMatchLifecycle,
} from './checks/paths.js'
import { momentsOfEntityDoNotFall, momentsOfSequenceDoNotFall } from './checks/moments.js'
import {
  conversionsMatchQuotes,
  correctionsAreByOperators,
  correctionsStayWithinDeposits,
  depositsAreByOperators,
  depositsArePostedOnce,
  entriesCarryTheirTenant,
  movedPostingsKeepTheirOrder,
  postingsHaveAnEntity,
  withdrawalsArePostedOnce,
} from './checks/postings.js'
import {
  railReturnsAreRefunded,
  discrepanciesAreResolvedByName,
  reversalsHaveRailReturn,
  instructionsNeverChanged,
  instructionsMatchSubmissions,
  neverPaid,
  openPaidAtMostOnce,
  orphansAreExecutions,
  orphansArePaidOnce,
  paidExactlyOnce,
  railLogExists,
} from './checks/rail.js'
import {
  noPlaintextAccounts,
  sealedWithKnownKeys,
  secretsAreEncrypted,
} from './checks/stored_secrets.js'
import {
  denormalizedColumnsMatch,
  openEntitiesHaveTimers,
  statesMatchTimestamps,
  tenantsArePartners,
} from './checks/snapshots.js'
import { erasedUsersHaveTheirPayments, userIntentsAreLinked } from './checks/user_intent_links.js'

export const CHECKLIST: readonly Check[] = [
  // The files.
  filesAreIntact,
  textsAreJson,
  columnsHoldTheirKind,
  booksHaveAnOwner,
  archiveHasWhatLeft,
  // The ledger.
  postingsSumToZero,
  noNegativeBalances,
  runningBalancesMatch,
  balancesRecompute,
  // Payouts and intents.
  denormalizedColumnsMatch,
  statesMatchTimestamps,
  momentsOfEntityDoNotFall,
  openEntitiesHaveTimers,
  tenantsArePartners,
  payoutAmountsAddUp,
  quotesMatchRates,
  // Rows that payouts and intents cause in other tables.
  postingsHaveAnEntity,
  entriesCarryTheirTenant,
  movedPostingsKeepTheirOrder,
  depositsArePostedOnce,
  withdrawalsArePostedOnce,
  correctionsStayWithinDeposits,
  conversionsMatchQuotes,
  payoutPostingsMatchLifecycle,
  intentPostingsMatchLifecycle,
  discrepanciesArePosted,
  reservedMatchesOpenPayments,
  limitsCountConfirmations,
  everyTransitionHasEvent,
  noOrphanEvents,
  everyDisablingHasEvent,
  everyAnnouncementHasEvent,
  sequencesHaveNoGap,
  momentsOfSequenceDoNotFall,
  eventBodiesMatch,
  idempotencyRowsResolve,
  payoutsHaveOneKey,
  fingerprintsMatchKeys,
  olderKeysAreIndexed,
  userIntentsAreLinked,
  erasedUsersHaveTheirPayments,
  secretsAreEncrypted,
  sealedWithKnownKeys,
  discrepanciesAreResolvedByName,
  approvalsAreByTwoOperators,
  actionsMatchWhatTheyMoved,
  depositsAreByOperators,
  correctionsAreByOperators,
  // The rail's log.
  railLogExists,
  paidExactlyOnce,
  neverPaid,
  openPaidAtMostOnce,
  instructionsMatchSubmissions,
  orphansAreExecutions,
  orphansArePaidOnce,
  instructionsNeverChanged,
  reversalsHaveRailReturn,
  railReturnsAreRefunded,
  noPlaintextAccounts,
  // The webhook pools.
  settledEventsAreFinal,
  deliveriesAreCounted,
  deliveriesHaveNoGap,
  poolEventsMatch,
  deliveriesAreReadable,
]
