/** A tenant's beneficiaries, disabled ones among them, newest first. */
import type { TenantId } from '../../base/ids.js'
import { beneficiaryView } from '../commands/beneficiary_create.js'
import { refuse } from '../cycle/group.js'
import { answerPage, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

/** Sorts behind every id. */
const ABOVE_ALL = '~'

export function listBeneficiaries(tenant: TenantId, request: PageRequest): Query {
  return {
    name: 'list_beneficiaries',
    lane: tenant,
    run: async ({ lists, vault }) => {
      const page = pageOf(vault, `beneficiaries ${tenant}`, request)
      if (page === null) return refuse('invalid_request')
      const rows = await lists.beneficiaries(tenant, page.after ?? ABOVE_ALL, page.limit + 1)
      return answerPage(vault, page, rows, {
        view: beneficiaryView,
        positionOf: ({ id }) => id,
      })
    },
  }
}
