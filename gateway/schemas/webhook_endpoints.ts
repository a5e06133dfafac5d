/**
 * Bodies of the webhook endpoint routes.
 */
import { DESCRIPTION_MAX } from '../../src/base/bounds.js'
import { checkOf } from '../decode/body.js'

export interface CreateWebhookEndpointBody {
  readonly url: string
  readonly description?: string
  /** Left out or empty: every event that is not opt-in. */
  readonly enabled_events?: readonly string[]
}

const URL_MAX = 2_048
/** More than there are event types. */
const ENABLED_EVENTS_MAX = 32

export const checkCreateWebhookEndpoint = checkOf<CreateWebhookEndpointBody>({
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: {
    url: { type: 'string', maxLength: URL_MAX, format: 'webhook-url' },
    description: { type: 'string', maxLength: DESCRIPTION_MAX },
    enabled_events: {
      type: 'array',
      maxItems: ENABLED_EVENTS_MAX,
      uniqueItems: true,
      items: { type: 'string', pattern: '^(?:\\*|(?:payout|payment_intent)\\.[a-z]{1,32})$' },
    },
  },
})
