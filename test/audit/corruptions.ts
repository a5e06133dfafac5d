/**
 * Every corruption of the small books, module by module as on the audit's checklist.
 *
 * Owns: the list. corruptions/ledger.ts is what src/audit/checks/ledger.ts has to find, and so on.
 * Does not own: corruptions/two_pools.ts, which is for books that two webhook pools share.
 */
import type { Corruptions } from './corruption.js'
import { amounts } from './corruptions/amounts.js'
import { deliveries } from './corruptions/deliveries.js'
import { events } from './corruptions/events.js'
import { files } from './corruptions/files.js'
import { idempotency } from './corruptions/idempotency.js'
import { ledger } from './corruptions/ledger.js'
import { limits } from './corruptions/limits.js'
import { paths } from './corruptions/paths.js'
import { postings } from './corruptions/postings.js'
import { rail } from './corruptions/rail.js'
import { secrets } from './corruptions/secrets.js'
import { snapshots } from './corruptions/snapshots.js'
import { userIntents } from './corruptions/user_intents.js'

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
  rail,
  deliveries,
]

export const corruptionsOf: Corruptions = (books) => MODULES.flatMap((module) => module(books))
