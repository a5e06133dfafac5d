/**
 * The one rule for showing an account number without giving it away.
 *
 * Owns: how much of it may be seen. Does not own: where it is shown.
 *
 * - More than half of it stays hidden.
 * - The stars are always four, so its length does not show.
 */

/** Four stars and the part that may be seen. */
export const masked = (account: string): string => `****${visibleEnd(account)}`

/** The last four characters; two of an account of eight or fewer; nothing of four or fewer. */
export function visibleEnd(account: string): string {
  if (account.length <= 4) return ''
  return account.slice(account.length <= 8 ? -2 : -4)
}
