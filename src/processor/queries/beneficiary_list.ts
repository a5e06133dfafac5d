/** A tenant's beneficiaries, disabled ones included, newest first. */
import { AFTER_ALL_IDS, type TenantId } from '../../base/ids.js'
import { beneficiaryView } from '../changes/beneficiaries.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { shapeOfViewed, viewed } from './readable.js'

export function listBeneficiaries(tenant: TenantId, request: PageRequest): Query {
  return {
    name: 'list_beneficiaries',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, `beneficiaries ${tenant}`, request)
      if (page === null) return INVALID_PAGE
      const rows = await lists.beneficiaries(tenant, page.after ?? AFTER_ALL_IDS, page.limit + 1)
      return answerPage(vault, page, viewed(rows, ctx, beneficiaryView), shapeOfViewed())
    },
  }
}
