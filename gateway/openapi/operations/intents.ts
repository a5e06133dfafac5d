/** Payment intents and receipts in the OpenAPI document. */
import {
  checkConfirm,
  checkCreateIntent,
  checkRemintSession,
  checkScan,
} from '../../../src/requests/intents.js'
import { checkIntents } from '../../../src/requests/lists.js'
import type { Operations } from '../operation.js'

export const INTENT_OPERATIONS: Operations = {
  'POST /v1/payment_intents': {
    id: 'createPaymentIntent',
    tag: 'Payment intents',
    summary: 'Create a payment intent',
    description:
      'Creates an intent with a ceiling in US cents and its first session token. Pass both to ' +
      'your app, which scans the code and confirms. The same `Idempotency-Key` with the same ' +
      'body returns the first answer byte for byte, token included.',
    body: { name: 'CreatePaymentIntentRequest', schema: checkCreateIntent.schema },
    answer: 'CreatedPaymentIntent',
    answerText: 'The intent with its session token.',
    errors: [
      'attestation_not_satisfied',
      'corridor_not_enabled',
      'partner_suspended',
      'idempotency_conflict',
    ],
  },
  'GET /v1/payment_intents': {
    id: 'listPaymentIntents',
    tag: 'Payment intents',
    summary: 'List payment intents',
    description:
      'Lists intents, newest first. Filters combine. A page with a `status` or `corridor` ' +
      'searches at most 2,000 intents, so it can be short or empty before the end.',
    query: checkIntents.schema,
    answer: 'PaymentIntentPage',
    answerText: 'A page of intents.',
    errors: [],
  },
  'GET /v1/payment_intents/{intent_id}': {
    id: 'getPaymentIntent',
    tag: 'Payment intents',
    summary: 'Get a payment intent',
    description:
      'Returns the current intent. Your backend signs; your app uses the session token of this ' +
      'intent, also after a confirm consumed it, until it expires. Poll after one second, then ' +
      'multiply the delay by 1.5 up to 15 seconds.',
    answer: 'PaymentIntent',
    answerText: 'The current intent.',
    errors: ['payment_intent_not_found'],
  },
  'POST /v1/payment_intents/{intent_id}/session': {
    id: 'createSessionToken',
    tag: 'Payment intents',
    summary: 'Create another session token',
    description:
      'Creates a session token when the earlier one expired. Scan, quote and deadline of the ' +
      'intent are unchanged, and earlier tokens stay valid until they expire. Each call creates ' +
      'a token.',
    body: { name: 'CreateSessionTokenRequest', schema: checkRemintSession.schema },
    answer: 'SessionToken',
    answerText: 'The token.',
    errors: [
      'payment_intent_not_found',
      'user_mismatch',
      'attestation_not_satisfied',
      'partner_suspended',
      'payment_intent_terminal',
    ],
  },
  'POST /v1/payment_intents/{intent_id}/scan': {
    id: 'scanQrCode',
    tag: 'Payment intents',
    summary: "Scan the merchant's QR code",
    description:
      'Reads the code and binds a quote to the intent. The service alone parses the code: send ' +
      'it as read. A new scan replaces the quote. Show the amount to the user, then confirm ' +
      'with `quote_id` and `quote_version`.',
    body: { name: 'ScanRequest', schema: checkScan.schema },
    answer: 'ScanResult',
    answerText: 'The merchant and the quote.',
    errors: [
      'partner_suspended',
      'corridor_not_enabled',
      'payment_intent_not_scannable',
      'duplicate_scan',
      'qr_malformed',
      'qr_checksum_invalid',
      'qr_scheme_unsupported',
      'qr_country_mismatch',
      'qr_currency_mismatch',
      'qr_amount_mismatch',
      'local_amount_required',
      'local_amount_invalid',
      'amount_below_minimum',
      'user_limit_exceeded',
      'quote_exceeds_intent_amount',
    ],
  },
  'POST /v1/payment_intents/{intent_id}/confirm': {
    id: 'confirmPaymentIntent',
    tag: 'Payment intents',
    summary: 'Confirm the payment',
    description:
      "Reserves the quote's amount and submits the payment to the bank. It consumes the token " +
      'for scans and confirms. Store an `Idempotency-Key` on the device before the call and ' +
      'send it in every attempt: only the same key makes a repeated confirm safe. The outcome ' +
      'follows by webhook or polling.',
    body: { name: 'ConfirmRequest', schema: checkConfirm.schema, required: false },
    answer: 'PaymentIntent',
    answerText: 'The intent, `authorized`.',
    errors: [
      'partner_suspended',
      'corridor_not_enabled',
      'payment_intent_not_confirmable',
      'quote_required',
      'quote_changed',
      'quote_expired',
      'duplicate_scan',
      'user_limit_exceeded',
      'insufficient_balance',
      'already_confirmed',
    ],
  },
  'POST /v1/payment_intents/{intent_id}/cancel': {
    id: 'cancelPaymentIntent',
    tag: 'Payment intents',
    summary: 'Cancel a payment intent',
    description:
      'Cancels an intent before its payment is submitted to the bank, which normally happens at ' +
      'once after a confirm.',
    answer: 'PaymentIntent',
    answerText: 'The cancelled intent.',
    errors: ['payment_intent_not_found', 'payment_intent_not_cancelable'],
  },
  'POST /v1/payment_intents/{intent_id}/refund': {
    id: 'refundPaymentIntent',
    tag: 'Payment intents',
    summary: 'Request a refund',
    description:
      'Asks the receiving bank to return a captured payment, within 90 days and in full. The ' +
      'intent stays `captured` until the money arrives: then it is `refunded`, at the amount of ' +
      'its quote. The bank can decline, and an answer can take days.',
    answer: 'PaymentIntent',
    answerText: 'The intent with its requested refund.',
    errors: ['payment_intent_not_found', 'idempotency_conflict', 'payment_intent_not_refundable'],
  },
  'POST /v1/payment_intents/{intent_id}/receipt_token': {
    id: 'createReceiptToken',
    tag: 'Receipts',
    summary: 'Create a receipt token',
    description:
      "Creates a token that opens every receipt of the intent's user for five minutes, and " +
      'nothing else.',
    answer: 'ReceiptToken',
    answerText: 'The token.',
    errors: ['payment_intent_not_found'],
  },
  'GET /v1/payment_intents/{intent_id}/receipt': {
    id: 'getReceipt',
    tag: 'Receipts',
    summary: 'Get the receipt of a payment',
    description:
      'Returns the current receipt. An intent of another user and an unknown intent have the ' +
      'same answer.',
    answer: 'Receipt',
    answerText: 'The current receipt.',
    errors: ['payment_intent_not_found'],
  },
}
