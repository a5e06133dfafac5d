/** Validates a partner and environment before the call, for a precise error message. */
import { CommandFault, type Context } from './command.js'
import { missingShardsIn } from '../calls/shards.js'

export interface NamedTenant {
  readonly partner_id: string
  readonly environment: string
}

/** @throws CommandFault for an unknown environment or partner */
export async function tenantNamed(
  { partners }: Pick<Context, 'partners'>,
  partner: string,
  environment: string,
): Promise<NamedTenant> {
  if (environment !== 'sandbox' && environment !== 'production') {
    throw new CommandFault(`${environment} is not an environment: sandbox or production.`)
  }
  if (!(await isPartner({ partners }, partner))) {
    throw new CommandFault(`There is no partner ${partner}: see \`partner list\`.`)
  }
  return { partner_id: partner, environment }
}

/** @throws Error when that cannot be determined */
export async function isPartner(
  { partners }: Pick<Context, 'partners'>,
  name: string,
): Promise<boolean> {
  const list = await partners.call('List', {})
  const missing = missingShardsIn(list)
  const isListed = list.data.some(({ partner_id }) => partner_id === name)
  if (isListed || missing.length === 0) return isListed
  throw new Error(`${name} is not listed, and ${missing.join(', ')} did not answer.`)
}
