/** GET /v1/balance_transactions: changes of the balances, newest first. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../../src/requests/lists.js'

export const balanceTransactionsList: Handler = {
  decode: ({ request }) => {
    const page = readQuery(request.query, readPage)
    return page.ok ? withoutBody(request.body, { list_balance_transactions: page.value }) : page
  },
  success: () => OK,
  runsOutsideCycle: true,
}
