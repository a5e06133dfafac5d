/** GET /v1/balance_transactions: changes of the balances, newest first. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../schemas/lists.js'

export const balanceTransactionsList: Handler = {
  decode: ({ request }) => {
    const page = readPage(request.query)
    return page.ok ? withoutBody(request.body, { list_balance_transactions: page.value }) : page
  },
  success: () => OK,
  runsOutsideCycle: true,
}
