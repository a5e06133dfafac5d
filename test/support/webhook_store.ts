/** What a webhook pool's store reports, for tests that expect no report. */
import type { StoreReports } from '../../actors/webhook/store/store.js'

export const failed = (fault: unknown): never => {
  throw fault
}

export const NO_REPORTS: StoreReports = {
  failed,
  corrupt: ({ id }, why) => failed(new Error(`${id} is corrupt: ${why}`)),
}
