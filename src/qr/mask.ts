/**
 * The masking rule for account numbers.
 *
 * - More than half of the number stays hidden.
 * - There are always four stars, so the length does not show.
 */

/** Four stars and the visible end. */
export const masked = (account: string): string => `****${visibleEnd(account)}`

/** The last four characters; two of an account of eight or fewer; nothing of four or fewer. */
export function visibleEnd(account: string): string {
  if (account.length <= 4) return ''
  return account.slice(account.length <= 8 ? -2 : -4)
}
