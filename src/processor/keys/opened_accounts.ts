/**
 * Account numbers in plain text that were encrypted or decrypted recently: between its acceptance
 * and the rail's report a payment needs its number several times.
 *
 * - In memory only. At most OPENED_MAX are kept; the oldest is dropped first.
 * - A number is known by its encrypted text and field together, as it can be decrypted nowhere
 *   else.
 */

export const OPENED_MAX = 4_096

export interface OpenedAccounts {
  get(sealed: string, field: string): string | undefined
  keep(sealed: string, field: string, account: string): void
}

export function createOpenedAccounts(): OpenedAccounts {
  const bySealed = new Map<string, { readonly field: string; readonly account: string }>()
  return {
    get: (sealed, field) => {
      const known = bySealed.get(sealed)
      return known?.field === field ? known.account : undefined
    },
    keep: (sealed, field, account) => {
      bySealed.set(sealed, { field, account })
      if (bySealed.size <= OPENED_MAX) return
      for (const oldest of bySealed.keys()) {
        bySealed.delete(oldest)
        return
      }
    },
  }
}
