/**
 * Maps a Host header to its environment, by the settings SANDBOX_HOSTS and PRODUCTION_HOSTS.
 *
 * - Canonical and legacy names are equal. The port is ignored.
 * - While the lists are the defaults, every host outside the production list is the sandbox, so a
 *   first start answers under any name. With explicit lists an unknown host has no environment.
 */
import type { Environment } from '../../src/base/ids.js'
import { hasDefaultHosts, type Settings } from '../../src/settings/settings.js'

export type Hosts = (host: string) => Environment | undefined

export function createHosts(settings: Pick<Settings, 'SANDBOX_HOSTS' | 'PRODUCTION_HOSTS'>): Hosts {
  const sandbox = new Set(settings.SANDBOX_HOSTS)
  const production = new Set(settings.PRODUCTION_HOSTS)
  const fallback = hasDefaultHosts(settings) ? 'sandbox' : undefined
  return (host) => {
    const name = nameOf(host)
    if (production.has(name)) return 'production'
    return sandbox.has(name) ? 'sandbox' : fallback
  }
}

const nameOf = (host: string): string => host.replace(/:[0-9]*$/, '').toLowerCase()
