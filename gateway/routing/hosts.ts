/**
 * Which environment a host name belongs to.
 *
 * Owns: reading the Host header against the two lists. Does not own: keys, which must be of the
 * same environment.
 *
 * - Canonical and legacy names are alike. The port does not count.
 * - While the lists are the defaults, every host that production does not claim is the sandbox: a
 *   first start answers whatever name it is called by. With lists of one's own an unknown host is
 *   nobody's.
 */
import type { Environment } from '../../src/base/ids.js'
import { hasDefaultHosts, type Settings } from '../../src/base/settings.js'

export type Hosts = (host: string) => Environment | undefined

export function createHosts(settings: Pick<Settings, 'SANDBOX_HOSTS' | 'PRODUCTION_HOSTS'>): Hosts {
  const sandbox = new Set(settings.SANDBOX_HOSTS)
  const production = new Set(settings.PRODUCTION_HOSTS)
  const otherwise = hasDefaultHosts(settings) ? 'sandbox' : undefined
  return (host) => {
    const name = nameOf(host)
    if (production.has(name)) return 'production'
    return sandbox.has(name) ? 'sandbox' : otherwise
  }
}

const nameOf = (host: string): string => host.replace(/:[0-9]*$/, '').toLowerCase()
