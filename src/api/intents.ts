/**
 * Payment intents, their sessions and receipts.
 *
 * Does not own: the members of requests and answers (intent_messages).
 */
import { INTENT_IDEMPOTENCY_KEY_MAX, SCAN_BODY_MAX_BYTES } from '../base/constants.js'
import {
  checkConfirm,
  checkCreateIntent,
  checkRemintSession,
  checkScan,
  readIntents,
} from './intent_messages.js'
import { createdListAsJson } from './lists.js'
import { body, noContent, query, type OperationsOf } from './operation.js'

export const INTENTS: OperationsOf<
  | 'create_intent'
  | 'list_intents'
  | 'get_intent'
  | 'remint_session'
  | 'scan_intent'
  | 'confirm_intent'
  | 'cancel_intent'
  | 'refund_intent'
  | 'mint_receipt_token'
  | 'get_receipt'
> = {
  create_intent: {
    method: 'POST',
    path: '/v1/payment_intents',
    auth: 'hmac',
    key: { isRequired: false, maxLength: INTENT_IDEMPOTENCY_KEY_MAX },
    content: body('CreatePaymentIntentRequest', checkCreateIntent, (intent) => intent),
    success: 201,
    rpc: 'PaymentIntents.Create',
    rpcField: 'intent',
    client: 'paymentIntents.create',
    clientBody: 'intent',
    id: 'createPaymentIntent',
    tag: 'Payment intents',
    summary: 'Create a payment intent',
    description:
      'Creates an intent with a ceiling in US cents and its first session token. Pass both to ' +
      'your app, which scans the code and confirms. The same `Idempotency-Key` with the same ' +
      'body returns the first answer byte for byte, token included.',
    answer: 'CreatedPaymentIntent',
    answerText: 'The intent with its session token.',
    errors: [
      'attestation_not_satisfied',
      'corridor_not_enabled',
      'partner_suspended',
      'idempotency_conflict',
    ],
  },
  list_intents: {
    method: 'GET',
    path: '/v1/payment_intents',
    auth: 'hmac',
    content: query(readIntents, (list) => list, createdListAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'PaymentIntents.List',
    rpcField: 'list',
    client: 'paymentIntents.list',
    id: 'listPaymentIntents',
    tag: 'Payment intents',
    summary: 'List payment intents',
    description:
      'Lists intents, newest first. Filters combine. A page with a `status` or `corridor` ' +
      'searches at most 2,000 intents, so it can be short or empty before the end.',
    answer: 'PaymentIntentPage',
    answerText: 'A page of intents.',
    errors: [],
  },
  get_intent: {
    method: 'GET',
    path: '/v1/payment_intents/{intent_id}',
    auth: 'hmac_or_session',
    content: noContent(({ id }) => ({ intent_id: id })),
    success: 200,
    rpc: 'PaymentIntents.Get',
    client: 'paymentIntents.get',
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
  remint_session: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/session',
    auth: 'hmac',
    content: body('CreateSessionTokenRequest', checkRemintSession, (session, { id }) => ({
      intent_id: id,
      ...session,
    })),
    success: 200,
    recordedEntity: 'intent_id',
    rpc: 'PaymentIntents.RemintSession',
    rpcField: 'session',
    client: 'paymentIntents.newSession',
    clientBody: 'user',
    isRepeatable: true,
    id: 'createSessionToken',
    tag: 'Payment intents',
    summary: 'Create another session token',
    description:
      'Creates a session token when the earlier one expired. Scan, quote and deadline of the ' +
      'intent are unchanged, and earlier tokens stay valid until they expire. Each call creates ' +
      'a token.',
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
  scan_intent: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/scan',
    auth: 'session',
    bodyMaxBytes: SCAN_BODY_MAX_BYTES,
    content: body('ScanRequest', checkScan, (scan, { id, sessionJti }) => ({
      intent_id: id,
      session_jti: sessionJti,
      qr_payload: scan.qr_payload,
      duplicate_confirmed: scan.duplicate_confirmed ?? false,
      ...(scan.local_amount_minor_units === undefined
        ? {}
        : { local_amount_minor_units: String(scan.local_amount_minor_units) }),
    })),
    success: 200,
    rpc: 'PaymentIntents.Scan',
    client: 'session().scan',
    isRepeatable: true,
    id: 'scanQrCode',
    tag: 'Payment intents',
    summary: "Scan the merchant's QR code",
    description:
      'Reads the code and binds a quote to the intent. The service alone parses the code: send ' +
      'it as read. A new scan replaces the quote. Show the amount to the user, then confirm ' +
      'with `quote_id` and `quote_version`.',
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
  confirm_intent: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/confirm',
    auth: 'session',
    key: { isRequired: false, maxLength: INTENT_IDEMPOTENCY_KEY_MAX },
    content: body(
      'ConfirmRequest',
      checkConfirm,
      (confirm, { id, sessionJti }) => ({ ...confirm, intent_id: id, session_jti: sessionJti }),
      { isRequired: false },
    ),
    success: 200,
    refusesAsConflict: true,
    rpc: 'PaymentIntents.Confirm',
    client: 'session().confirm',
    id: 'confirmPaymentIntent',
    tag: 'Payment intents',
    summary: 'Confirm the payment',
    description:
      "Reserves the quote's amount and submits the payment to the bank. It consumes the token " +
      'for scans and confirms. Store an `Idempotency-Key` on the device before the call and ' +
      'send it in every attempt: only the same key makes a repeated confirm safe. The outcome ' +
      'follows by webhook or polling.',
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
      'compliance_rejected',
      'risk_rejected',
      'already_confirmed',
    ],
  },
  cancel_intent: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/cancel',
    auth: 'hmac',
    content: noContent(({ id }) => ({ intent_id: id })),
    success: 200,
    rpc: 'PaymentIntents.Cancel',
    client: 'paymentIntents.cancel',
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
  refund_intent: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/refund',
    auth: 'hmac',
    key: { isRequired: false, maxLength: INTENT_IDEMPOTENCY_KEY_MAX },
    content: noContent(({ id }) => ({ intent_id: id })),
    success: 202,
    recordedEntity: 'intent_id',
    rpc: 'PaymentIntents.Refund',
    rpcField: 'refund',
    client: 'paymentIntents.refund',
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
  mint_receipt_token: {
    method: 'POST',
    path: '/v1/payment_intents/{intent_id}/receipt_token',
    auth: 'hmac',
    content: noContent(({ id }) => ({ intent_id: id })),
    success: 200,
    rpc: 'PaymentIntents.MintReceiptToken',
    client: 'paymentIntents.receiptToken',
    isRepeatable: true,
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
  get_receipt: {
    method: 'GET',
    path: '/v1/payment_intents/{intent_id}/receipt',
    auth: 'receipt',
    content: noContent(({ id, receiptSubject }) => ({ intent_id: id, subject: receiptSubject })),
    success: 200,
    rpc: 'PaymentIntents.GetReceipt',
    client: 'receipts().get',
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
