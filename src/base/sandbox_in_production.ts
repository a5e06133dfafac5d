/** Refuses the sandbox rail in a process with production hosts. */
import type { Settings } from './settings.js'

/** The sandbox rail reports payments as executed although no money moves. */
export const sandboxRailFault = ({
  PRODUCTION_HOSTS,
  ALLOW_SANDBOX_RAIL_IN_PRODUCTION,
}: Pick<Settings, 'PRODUCTION_HOSTS' | 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION'>): string | undefined =>
  PRODUCTION_HOSTS.length === 0 || ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes'
    ? undefined
    : 'PRODUCTION_HOSTS is set, but the only rail is the sandbox, which moves no real money: ' +
      'unset PRODUCTION_HOSTS, or set ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out.'
