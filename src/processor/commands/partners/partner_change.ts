/**
 * Changes a partner's settings, and lists partners.
 *
 * - A list replaces the previous one. An empty list of addresses or packages restricts nothing.
 * - A suspended partner cannot start anything new; payments in progress continue.
 */
import ipaddr from 'ipaddr.js'
import { PARTNER_RATE_MAX } from '../../../base/constants.js'
import { toRfc3339 } from '../../../base/clock.js'
import { named } from '../../../base/corrupt_row.js'
import type { PartnerId } from '../../../base/ids.js'
import { isCorridor, type Corridor } from '../../../qr/corridor.js'
import type { Command } from '../../cycle/command.js'
import { stagePartner } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { PartnerEntry } from '../../cache/tenant_directory.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

export type PartnerChange =
  | { readonly kind: 'suspend' | 'resume' }
  | { readonly kind: 'allowed_ips' | 'packages' | 'corridors'; readonly values: readonly string[] }
  | { readonly kind: 'rate_limit'; readonly perSecond: number }

const VALUES_MAX = 256
/** Bundle identifiers and application ids: reverse host names. */
const PACKAGE = /^[A-Za-z0-9._-]{1,255}$/

export function changePartner(actor: Actor, partnerId: string, change: PartnerChange): Command {
  return {
    name: 'change_partner',
    needs: () => undefined,
    decide: (ctx) => {
      const partner = ctx.memory.partners.get(partnerId as PartnerId)
      if (partner === undefined) return refuse('partner_not_found')
      const changed = applied(partner, change)
      if (changed === null) return refuse('invalid_request')

      // From here on it must succeed.
      stagePartner(ctx, changed)
      logAction(ctx, actor, `partner_${change.kind}`, `${partnerId} ${valuesOf(change)}`.trim())
      return answer(partnerView(changed))
    },
  }
}

export function listPartners(): Command {
  return {
    name: 'list_partners',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) =>
      answer({ data: [...memory.partners.values()].sort(oldestFirst).map(partnerView) }),
  }
}

function applied(partner: PartnerEntry, change: PartnerChange): PartnerEntry | null {
  switch (change.kind) {
    case 'suspend':
    case 'resume':
      return { ...partner, suspended: change.kind === 'suspend' }
    case 'rate_limit':
      return change.perSecond <= PARTNER_RATE_MAX
        ? { ...partner, rateLimitPerSecond: change.perSecond }
        : null
    case 'allowed_ips':
      return areValid(change.values, isAddressRange)
        ? { ...partner, allowedIps: change.values }
        : null
    case 'packages':
      return areValid(change.values, (value) => PACKAGE.test(value))
        ? { ...partner, packages: change.values }
        : null
    case 'corridors':
      return areValid(change.values, isCorridor)
        ? { ...partner, corridors: change.values as readonly Corridor[] }
        : null
  }
}

const areValid = (values: readonly string[], isValid: (value: string) => boolean): boolean =>
  values.length <= VALUES_MAX && values.every(isValid)

/** CIDR notation: the prefix length is required, so a range is always explicit. */
const isAddressRange = (value: string): boolean => ipaddr.isValidCIDR(value)

function valuesOf(change: PartnerChange): string {
  if ('values' in change) return change.values.join(',')
  return 'perSecond' in change ? String(change.perSecond) : ''
}

const oldestFirst = (one: PartnerEntry, other: PartnerEntry): number =>
  one.createdAt - other.createdAt

function partnerView(partner: PartnerEntry): object {
  const { id, suspended } = partner
  if (partner.isCorrupt) return { partner_id: id, suspended, ...named(`partner ${id}`) }
  return {
    partner_id: partner.id,
    suspended: partner.suspended,
    allowed_ips: partner.allowedIps,
    packages: partner.packages,
    corridors: partner.corridors,
    rate_limit_per_second: partner.rateLimitPerSecond,
    created_at: toRfc3339(partner.createdAt),
  }
}
