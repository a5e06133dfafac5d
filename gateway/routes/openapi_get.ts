/** GET /openapi.json: the machine-readable description of this API. Takes no authentication. */
import { accepted } from '../../src/base/errors.js'
import type { LocalHandler } from '../routing/route.js'

export const openApiGet: LocalHandler = {
  answer: ({ openApi }) => accepted(openApi),
}
