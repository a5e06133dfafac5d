// Ids and tokens of the answer, for the requests that follow.
function variablesOf(answer) {
  const kinds = {
    pout: 'payout_id',
    ben: 'beneficiary_id',
    we: 'endpoint_id',
    fxq: 'fx_quote_id',
    evt: 'event_id',
  }
  const found = {}
  const { id } = answer.event || answer
  const kind = id && kinds[String(id).split('_')[0]]
  if (kind) found[kind] = id
  for (const name of ['intent_id', 'session_token', 'receipt_token']) {
    if (answer[name]) found[name] = answer[name]
  }
  if (answer.quote) {
    found.quote_id = answer.quote.quote_id
    found.quote_version = answer.quote.quote_version
  }
  return found
}

// While the bank has not answered, a run asks again.
function isOpen(method, { status }) {
  return method === 'GET' && ['authorized', 'processing'].includes(status)
}
