/** The sandbox rail: an adapter whose bank decides in the journal. */
import { startAdapter, type Adapter, type AdapterOptions } from '../adapter/server.js'
import { SANDBOX_RAIL } from '../rail.js'
import { sandboxRules } from './bank.js'

export interface SandboxRailOptions extends Omit<AdapterOptions, 'name' | 'rules'> {
  /** Time that a payment or a recall takes. */
  readonly delayMs: number
}

export const startSandboxRail = ({ delayMs, ...options }: SandboxRailOptions): Promise<Adapter> =>
  startAdapter({ ...options, name: SANDBOX_RAIL, rules: sandboxRules(delayMs) })
