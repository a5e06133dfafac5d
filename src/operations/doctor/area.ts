/** One area of the production checklist, and what was found in it. */
import type { Clock } from '../../base/clock.js'
import type { Settings } from '../../settings/settings.js'
import type { Finding } from './production_check.js'

export interface Area {
  readonly name: string
  look(settings: Settings, clock: Clock): Promise<Seen>
}

export type Seen =
  | { readonly kind: 'checked'; readonly findings: readonly Finding[] }
  /** It cannot be told here; it is named, and is no finding. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** The settings do not use it. */
  | { readonly kind: 'unused' }

export const checked = (findings: readonly Finding[]): Seen => ({ kind: 'checked', findings })

export const UNUSED: Seen = { kind: 'unused' }

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
