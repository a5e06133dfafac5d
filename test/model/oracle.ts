/** Applies any operation to the model and returns the expected response. */
import { unreachable } from '../../src/base/assert.js'
import { accepted, type Expectation, type Model } from './model.js'
import type { ModelOperation } from './operations.js'
import {
  expectCancel,
  expectCreate,
  expectGet,
  expectReceipt,
  expectReceiptToken,
  expectRefund,
  expectRemint,
} from './partner_rules.js'
import { expectConfirm, expectScan } from './payer_rules.js'
import { expectReport, expectTimer } from './rail_rules.js'

export function oracle(model: Model, operation: ModelOperation): Expectation {
  switch (operation.kind) {
    case 'create':
      return expectCreate(model, operation)
    case 'remint':
      return expectRemint(model, operation)
    case 'scan':
      return expectScan(model, operation)
    case 'confirm':
      return expectConfirm(model, operation)
    case 'cancel':
      return expectCancel(model, operation)
    case 'refund':
      return expectRefund(model, operation)
    case 'get':
      return expectGet(operation)
    case 'receipt':
      return expectReceipt(operation)
    case 'mintReceipt':
      return expectReceiptToken(model, operation)
    case 'timer':
      return expectTimer(model, operation.intent)
    case 'report':
      return expectReport(model, operation)
    case 'rate':
      model.rates[operation.currency] = operation.rate
      return accepted(() => ({}))
    default:
      return unreachable(operation)
  }
}
