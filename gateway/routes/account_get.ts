/** GET /v1/account: the partner's own settings. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const accountGet: Handler = {
  decode: ({ request }) => withoutBody(request.body, { get_account: {} }),
  success: () => OK,
}
