/** GET /v1/beneficiaries: beneficiaries, newest first, including disabled ones. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../../src/requests/lists.js'

export const beneficiariesList: Handler = {
  decode: ({ request }) => {
    const page = readQuery(request.query, readPage)
    return page.ok ? withoutBody(request.body, { list_beneficiaries: page.value }) : page
  },
  success: () => OK,
  runsOutsideCycle: true,
}
