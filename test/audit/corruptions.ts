/**
 * The corruptions of the small books in the order of the audit's checklist.
 *
 * corruptions/ledger.ts has those that src/audit/checks/ledger.ts must find, and so on.
 * corruptions/two_pools.ts is for books that two webhook pools share.
 */
import type { Corruptions } from './corruption.js'
import { amounts } from './corruptions/amounts.js'
import { approvals } from './corruptions/approvals.js'
import { deliveries } from './corruptions/deliveries.js'
import { events } from './corruptions/event_rows.js'
import { files } from './corruptions/files.js'
import { idempotency } from './corruptions/idempotency.js'
import { ledger } from './corruptions/ledger.js'
import { limits } from './corruptions/limits.js'
import { paths } from './corruptions/paths.js'
import { postings } from './corruptions/postings.js'
import { rail } from './corruptions/rail.js'
import { secrets } from './corruptions/stored_secrets.js'
import { snapshots } from './corruptions/snapshots.js'
import { userIntents } from './corruptions/user_intent_links.js'

const MODULES: readonly Corruptions[] = [
  files,
  ledger,
  snapshots,
  amounts,
  postings,
  paths,
  limits,
  events,
  idempotency,
  userIntents,
  secrets,
  approvals,
  rail,
  deliveries,
]

export const corruptionsOf: Corruptions = (books) => MODULES.flatMap((module) => module(books))
