/**
 * Account numbers in plain text that were encrypted or decrypted recently: between its acceptance
 * and the rail's report a payment needs its number several times.
 *
 * - In memory only. At most OPENED_MAX are kept; the oldest is dropped first.
 * - A number is known by its encrypted text and place together, as it can be decrypted nowhere
 *   else.
 */

export const OPENED_MAX = 4_096

export interface OpenedAccounts {
  get(sealed: string, place: string): string | undefined
  keep(sealed: string, place: string, account: string): void
}

export function createOpenedAccounts(): OpenedAccounts {
  const bySealed = new Map<string, { readonly place: string; readonly account: string }>()
  return {
    get: (sealed, place) => {
      const known = bySealed.get(sealed)
      return known?.place === place ? known.account : undefined
    },
    keep: (sealed, place, account) => {
      bySealed.set(sealed, { place, account })
      if (bySealed.size <= OPENED_MAX) return
      for (const oldest of bySealed.keys()) {
        bySealed.delete(oldest)
        return
      }
    },
  }
}
