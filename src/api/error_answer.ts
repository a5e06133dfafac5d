/**
 * The error envelope (gateway/http/error_response).
 */
import { objectOf, text, type Schema } from './schema.js'

export const ERROR_ANSWERS: Readonly<Record<string, Schema>> = {
  Error: objectOf('Every answer of 400 and above.', {
    error: objectOf('What is wrong.', {
      code: text('Branch on it. More codes can be added where an operation can fail already.'),
      message: text(
        'For people. The text of a code is fixed, but in the sandbox that of a 400 names the ' +
          'part of the request and the rule that it breaks.',
      ),
      request_id: text('Quote it to support; also in `X-Request-Id`.', { pattern: '^req_' }),
    }),
  }),
}
