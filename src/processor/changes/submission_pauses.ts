/**
 * Stops of submissions by operators: of a rail, a corridor or an environment.
 *
 * Does not own: setting and ending them (operators/submissions_pause), the stop of all submissions
 * while the books are suspect (background/recovery).
 *
 * - What is accepted meanwhile waits as during an outage of its rail. What is submitted is inquired
 *   about and recalled, and is not sent again.
 * - An instruction that was decided before the pause leaves: no instruction is decided after it.
 */
import { ENVIRONMENTS } from '../../base/ids.js'
import { isCorridor } from '../../qr/corridor.js'
import { isPayoutRoute, type RailTable, type RouteName } from '../../rails/rail_table.js'
import type { Memory } from '../cache/memory.js'

/** Whether nothing is submitted to the rail on the route. */
export function isPaused(
  { pauses }: Pick<Memory, 'pauses'>,
  rail: string,
  route: RouteName,
): boolean {
  if (pauses.size === 0) return false
  const slash = route.indexOf('/')
  return (
    pauses.has(`rail ${rail}`) ||
    pauses.has(`environment ${route.slice(0, slash)}`) ||
    pauses.has(`corridor ${route.slice(slash + 1)}`)
  )
}

/**
 * Whether the subject exists: `rail bank_a`, `corridor th_promptpay`, `corridor TH/THB` (payouts),
 * `environment production`.
 */
export function isPausable(subject: string, { entries }: RailTable): boolean {
  const [scope, target = '', ...rest] = subject.split(' ')
  if (rest.length > 0) return false
  switch (scope) {
    case 'rail':
      return entries.some(({ name }) => name === target)
    case 'corridor':
      return isCorridor(target) || isPayoutRoute(target)
    case 'environment':
      return ENVIRONMENTS.some((environment) => environment === target)
    default:
      return false
  }
}
