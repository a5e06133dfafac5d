/** All operator commands, in the order of the help. */
import { actions } from './operators/actions.js'
import { approvalsApprove, approvalsList, approvalsReject } from './operators/approvals.js'
import { archive } from './installation/archive.js'
import { backup } from './installation/backup.js'
import { balances } from './money/balances.js'
import { balanceAlert, keyIssue, partnerCreate } from './partners/changes.js'
import {
  callersCreate,
  callersList,
  callersRevoke,
  callersRotate,
  callersSelf,
  callersToken,
} from './operators/callers.js'
import type { AnyCommand } from './cli/command.js'
import { configShow } from './installation/config.js'
import { doctor } from './doctor/doctor.js'
import { find } from './payments/find.js'
import { deposit, depositCorrect, withdraw } from './money/funds.js'
import { discrepancyList, discrepancyResolve } from './payments/discrepancies.js'
import {
  intentResolve,
  intentReverse,
  intentShow,
  outcomesInquire,
  outcomesUnknown,
} from './payments/intents.js'
import { journal } from './money/journal.js'
import { keyList, keyRevoke } from './partners/keys.js'
import { listen } from './partners/listen.js'
import { masterKeyList, masterKeyReencrypt } from './installation/master_keys.js'
import {
  partnerAllowIps,
  partnerCorridors,
  partnerList,
  partnerPackages,
  partnerRateLimit,
  partnerResume,
  partnerSuspend,
} from './partners/partners.js'
import { partnerUsage } from './partners/usage.js'
import { payeeShow } from './payments/payee.js'
import {
  payoutApprove,
  payoutReject,
  payoutResolve,
  payoutReverse,
  payoutShow,
  payoutsHeld,
} from './payments/payouts.js'
import { productionCheck } from './doctor/production_check.js'
import { reconcileStatement } from './money/reconcile.js'
import {
  intentApprove,
  intentReject,
  intentsHeld,
  recoveryOrphans,
  recoveryResolve,
  recoveryShow,
} from './payments/recovery.js'
import { ratesImport, ratesList, ratesRemove, ratesSet } from './money/rates.js'
import { recoveryRelease } from './payments/recovery_release.js'
import { restore } from './installation/restore.js'
import { routesList, routesSet } from './payments/routes.js'
import { settingsSkip, shardCreate, shardList, shardMove } from './shards/shard_commands.js'
import { sign } from './partners/sign.js'
import { partnerMove } from './shards/partner_move.js'
import { partnerStatement } from './money/statement_command.js'
import { submissionsList, submissionsPause, submissionsResume } from './payments/submissions.js'
import { storeCopy } from './installation/store.js'
import { systemShow } from './installation/system.js'
import { trialBalance } from './money/trial_balance.js'
import { partnerEraseUser, partnerErasures } from './partners/user_erasures.js'
import { verify } from './partners/verify.js'
import {
  webhooksDead,
  webhooksDisable,
  webhooksEnable,
  webhooksEndpoints,
  webhooksPoison,
  webhooksRedrive,
  webhooksStatus,
} from './partners/webhooks.js'

export const COMMANDS: readonly AnyCommand[] = [
  find,
  partnerCreate,
  partnerList,
  partnerSuspend,
  partnerResume,
  partnerAllowIps,
  partnerPackages,
  partnerCorridors,
  partnerRateLimit,
  partnerStatement,
  partnerUsage,
  partnerMove,
  partnerEraseUser,
  partnerErasures,
  keyIssue,
  keyList,
  keyRevoke,
  callersList,
  callersSelf,
  callersToken,
  callersCreate,
  callersRotate,
  callersRevoke,
  approvalsList,
  approvalsApprove,
  approvalsReject,
  deposit,
  depositCorrect,
  withdraw,
  ratesList,
  ratesSet,
  ratesImport,
  ratesRemove,
  routesList,
  routesSet,
  submissionsPause,
  submissionsResume,
  submissionsList,
  balanceAlert,
  payoutsHeld,
  payoutShow,
  payoutApprove,
  payoutReject,
  payoutResolve,
  payoutReverse,
  payeeShow,
  intentsHeld,
  intentShow,
  intentResolve,
  intentReverse,
  intentApprove,
  intentReject,
  outcomesUnknown,
  outcomesInquire,
  discrepancyList,
  discrepancyResolve,
  trialBalance,
  balances,
  journal,
  reconcileStatement,
  recoveryShow,
  recoveryRelease,
  recoveryOrphans,
  recoveryResolve,
  actions,
  masterKeyList,
  masterKeyReencrypt,
  webhooksStatus,
  webhooksEndpoints,
  webhooksDead,
  webhooksRedrive,
  webhooksEnable,
  webhooksDisable,
  webhooksPoison,
  listen,
  sign,
  verify,
  systemShow,
  configShow,
  productionCheck,
  doctor,
  backup,
  restore,
  archive,
  storeCopy,
  shardList,
  shardCreate,
  shardMove,
  settingsSkip,
]
