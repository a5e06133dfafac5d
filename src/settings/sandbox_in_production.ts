/** Refuses the sandbox rail in production. */
import type { Settings } from './settings.js'

type RailSettings = Pick<
  Settings,
  'PRODUCTION_HOSTS' | 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION' | 'RAILS_FILE'
>

/** The sandbox rail reports payments as executed although no money moves. */
export const sandboxRailFault = ({
  PRODUCTION_HOSTS,
  ALLOW_SANDBOX_RAIL_IN_PRODUCTION,
  RAILS_FILE,
}: RailSettings): string | undefined =>
  RAILS_FILE !== '' || PRODUCTION_HOSTS.length === 0 || ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes'
    ? undefined
    : 'PRODUCTION_HOSTS is set, but the only rail is the sandbox, which moves no real money: ' +
      'unset PRODUCTION_HOSTS, or set ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out.'

/** The fault of a rail of RAILS_FILE that is found to be a sandbox rail once it is reached. */
export const disguisedSandboxFault = (
  { RAILS_FILE, ALLOW_SANDBOX_RAIL_IN_PRODUCTION }: RailSettings,
  rail: string,
): string | undefined =>
  RAILS_FILE === '' || ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes'
    ? undefined
    : `RAILS_FILE gives production to the rail ${rail}, which is a sandbox rail and moves no ` +
      'real money: take "production" out of its environments, or set ' +
      'ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out.'
