/** GET /v1/beneficiaries: beneficiaries, newest first, including disabled ones. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../schemas/lists.js'

export const beneficiariesList: Handler = {
  decode: ({ request }) => {
    const page = readPage(request.query)
    return page.ok ? withoutBody(request.body, { list_beneficiaries: page.value }) : page
  },
  success: () => OK,
  runsOutsideCycle: true,
}
