/** All operator commands, in the order of the help. */
import { actions } from './actions.js'
import { approvalsApprove, approvalsList, approvalsReject } from './approvals.js'
import { backup } from './backup.js'
import { balances } from './balances.js'
import { balanceAlert, keyIssue, partnerCreate } from './changes.js'
import {
  callersCreate,
  callersList,
  callersRevoke,
  callersRotate,
  callersSelf,
  callersToken,
} from './callers.js'
import type { AnyCommand } from './command.js'
import { configShow } from './config.js'
import { doctor } from './doctor/doctor.js'
import { find } from './find.js'
import { deposit, depositCorrect, withdraw } from './funds.js'
import { discrepancyList, discrepancyResolve } from './discrepancies.js'
import {
  intentResolve,
  intentReverse,
  intentShow,
  outcomesInquire,
  outcomesUnknown,
} from './intents.js'
import { journal } from './journal.js'
import { keyList, keyRevoke } from './keys.js'
import { listen } from './listen.js'
import { masterKeyList, masterKeyReencrypt } from './master_keys.js'
import {
  partnerAllowIps,
  partnerCorridors,
  partnerList,
  partnerPackages,
  partnerRateLimit,
  partnerResume,
  partnerSuspend,
} from './partners.js'
import { partnerUsage } from './usage.js'
import { payeeShow } from './payee.js'
import {
  payoutApprove,
  payoutReject,
  payoutResolve,
  payoutReverse,
  payoutShow,
  payoutsHeld,
} from './payouts.js'
import { productionCheck } from './production_check.js'
import { reconcileStatement } from './reconcile.js'
import {
  intentApprove,
  intentReject,
  intentsHeld,
  recoveryOrphans,
  recoveryResolve,
  recoveryShow,
} from './recovery.js'
import { ratesImport, ratesList, ratesRemove, ratesSet } from './rates.js'
import { recoveryRelease } from './recovery_release.js'
import { restore } from './restore.js'
import { routesList, routesSet } from './routes.js'
import { settingsSkip, shardCreate, shardList, shardMove } from './shard_commands.js'
import { sign } from './sign.js'
import { partnerMove } from './partner_move.js'
import { partnerStatement } from './statement_command.js'
import { submissionsList, submissionsPause, submissionsResume } from './submissions.js'
import { storeCopy } from './store.js'
import { systemShow } from './system.js'
import { trialBalance } from './trial_balance.js'
import { partnerEraseUser, partnerErasures } from './user_erasures.js'
import { verify } from './verify.js'
import {
  webhooksDead,
  webhooksDisable,
  webhooksEnable,
  webhooksEndpoints,
  webhooksPoison,
  webhooksRedrive,
  webhooksStatus,
} from './webhooks.js'

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
  storeCopy,
  shardList,
  shardCreate,
  shardMove,
  settingsSkip,
]
