/** The operations of the partner API: the rpc and the client's method of each route. */
export const PARITY: Readonly<Record<string, readonly [rpc: string, client: string]>> = {
  'POST /v1/payment_intents': ['PaymentIntents.Create', 'paymentIntents.create'],
  'GET /v1/payment_intents': ['PaymentIntents.List', 'paymentIntents.list'],
  'GET /v1/payment_intents/{intent_id}': ['PaymentIntents.Get', 'paymentIntents.get'],
  'POST /v1/payment_intents/{intent_id}/session': [
    'PaymentIntents.RemintSession',
    'paymentIntents.newSession',
  ],
  'POST /v1/payment_intents/{intent_id}/scan': ['PaymentIntents.Scan', 'session().scan'],
  'POST /v1/payment_intents/{intent_id}/confirm': ['PaymentIntents.Confirm', 'session().confirm'],
  'POST /v1/payment_intents/{intent_id}/cancel': ['PaymentIntents.Cancel', 'paymentIntents.cancel'],
  'POST /v1/payment_intents/{intent_id}/refund': ['PaymentIntents.Refund', 'paymentIntents.refund'],
  'POST /v1/payment_intents/{intent_id}/receipt_token': [
    'PaymentIntents.MintReceiptToken',
    'paymentIntents.receiptToken',
  ],
  'GET /v1/payment_intents/{intent_id}/receipt': ['PaymentIntents.GetReceipt', 'receipts().get'],
  'POST /v1/beneficiaries': ['Beneficiaries.Create', 'beneficiaries.create'],
  'GET /v1/beneficiaries': ['Beneficiaries.List', 'beneficiaries.list'],
  'GET /v1/beneficiaries/{beneficiary_id}': ['Beneficiaries.Get', 'beneficiaries.get'],
  'POST /v1/beneficiaries/{beneficiary_id}/disable': [
    'Beneficiaries.Disable',
    'beneficiaries.disable',
  ],
  'POST /v1/payouts': ['Payouts.Create', 'payouts.create'],
  'GET /v1/payouts': ['Payouts.List', 'payouts.list'],
  'GET /v1/payouts/{payout_id}': ['Payouts.Get', 'payouts.get'],
  'POST /v1/payouts/{payout_id}/cancel': ['Payouts.Cancel', 'payouts.cancel'],
  'GET /v1/balances': ['Payouts.Balances', 'balances'],
  'GET /v1/balance_transactions': ['Funding.ListBalanceTransactions', 'balanceTransactions.list'],
  'POST /v1/funding/deposits': ['Funding.CreateDeposit', 'sandbox.deposit'],
  'POST /v1/fx/quotes': ['Funding.CreateFxQuote', 'fx.quote'],
  'POST /v1/fx/conversions': ['Funding.CreateFxConversion', 'fx.convert'],
  'POST /v1/webhook_endpoints': ['WebhookEndpoints.Create', 'webhookEndpoints.create'],
  'GET /v1/webhook_endpoints': ['WebhookEndpoints.List', 'webhookEndpoints.list'],
  'GET /v1/webhook_endpoints/{endpoint_id}': ['WebhookEndpoints.Get', 'webhookEndpoints.get'],
  'PATCH /v1/webhook_endpoints/{endpoint_id}': [
    'WebhookEndpoints.Update',
    'webhookEndpoints.update',
  ],
  'DELETE /v1/webhook_endpoints/{endpoint_id}': [
    'WebhookEndpoints.Delete',
    'webhookEndpoints.delete',
  ],
  'POST /v1/webhook_endpoints/{endpoint_id}/enable': [
    'WebhookEndpoints.Enable',
    'webhookEndpoints.enable',
  ],
  'POST /v1/webhook_endpoints/{endpoint_id}/disable': [
    'WebhookEndpoints.Disable',
    'webhookEndpoints.disable',
  ],
  'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret': [
    'WebhookEndpoints.RotateSecret',
    'webhookEndpoints.rotateSecret',
  ],
  'POST /v1/webhook_endpoints/{endpoint_id}/test': [
    'WebhookEndpoints.Test',
    'webhookEndpoints.test',
  ],
  'GET /v1/webhook_endpoints/{endpoint_id}/deliveries': [
    'WebhookEndpoints.ListDeliveries',
    'webhookEndpoints.deliveries',
  ],
  'POST /v1/webhook_endpoints/{endpoint_id}/recover': [
    'WebhookEndpoints.Recover',
    'webhookEndpoints.recover',
  ],
  'GET /v1/events': ['Events.List', 'events.list'],
  'POST /v1/events/{event_id}/resend': ['Events.Resend', 'events.resend'],
  'GET /v1/account': ['Accounts.Get', 'account'],
  'POST /v1/sandbox/payouts/{payout_id}/simulate': ['Payouts.Simulate', 'sandbox.simulatePayout'],
}
