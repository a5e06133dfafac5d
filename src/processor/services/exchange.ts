/**
 * The gateways' stream: batches of commands in, batches of replies out.
 *
 * Owns: which operation becomes which command. Does not own: authentication (the gateway did it), decisions.
 *
 * X1. Replies released together leave in one message.
 * X2. A stream that ends takes its unanswered replies with it; the commands themselves are decided all the same.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/v1/Command.js'
import type { CommandBatch__Output as CommandBatch } from '../../../protos/types/causeway/v1/CommandBatch.js'
import type { ExchangeHandlers } from '../../../protos/types/causeway/v1/Exchange.js'
import type { Reply as WireReply } from '../../../protos/types/causeway/v1/Reply.js'
import type { ReplyBatch } from '../../../protos/types/causeway/v1/ReplyBatch.js'
import { STREAM_BATCH_MAX } from '../../base/bounds.js'
import { plus, type Clock, type Instant } from '../../base/clock.js'
import type { KeyId, TenantId } from '../../base/ids.js'
import type { Command } from '../command.js'
import { getBalances } from '../commands/balances_get.js'
import { createBeneficiary } from '../commands/beneficiary_create.js'
import { burnNonce, unknownOperation } from '../commands/nonce_burn.js'
import { cancelIntent } from '../commands/intent_cancel.js'
import { confirmIntent } from '../commands/intent_confirm.js'
import { createIntent } from '../commands/intent_create.js'
import { getIntent } from '../commands/intent_get.js'
import { getReceipt, mintReceipt } from '../commands/intent_receipt.js'
import { refundIntent } from '../commands/intent_refund.js'
import { remintSession } from '../commands/intent_remint.js'
import { scanIntent } from '../commands/intent_scan.js'
import { createPayout } from '../commands/payout_create.js'
import { cancelPayout, getPayout } from '../commands/payout_get.js'
import { createWebhookEndpoint, listWebhookEndpoints } from '../commands/webhook_endpoint_create.js'
import type { Answer } from '../group.js'
import type { Pipeline } from '../pipeline.js'
import type { Guard } from './guard.js'

type Stream = ServerDuplexStream<CommandBatch, ReplyBatch>

export interface ExchangeDependencies {
  readonly clock: Clock
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly guard: Guard
}

export function exchangeService({
  clock,
  pipeline,
  guard,
}: ExchangeDependencies): ExchangeHandlers {
  const open = (stream: Stream): void => {
    if (!guard.admits(stream.metadata)) {
      stream.destroy(guard.refusal())
      return
    }
    const replies = gatherReplies(stream)
    stream.on('data', (batch: CommandBatch) => {
      const now = clock.now()
      for (const wire of batch.commands) {
        pipeline.submit({
          lane: wire.tenant as TenantId,
          command: commandOf(wire, now),
          deadline: plus(now, wire.budget_ms),
          signedBy: wire.signed_by
            ? { keyId: wire.signed_by.key_id as KeyId, nonce: wire.signed_by.nonce }
            : null,
          reply: (answer) => replies.add(wire.ticket, answer),
        })
      }
    })
    stream.on('error', () => replies.end())
    stream.on('end', () => {
      replies.end()
      stream.end()
    })
  }
  return { Open: open }
}

function commandOf(wire: WireCommand, now: Instant): Command {
  const tenant = wire.tenant as TenantId
  if (wire.burn_only) return burnNonce()
  switch (wire.operation) {
    case 'create_intent':
      return createIntent(tenant, wire.create_intent!)
    case 'get_intent':
      return getIntent(tenant, wire.get_intent!.intent_id)
    case 'scan_intent':
      return scanIntent(tenant, wire.scan_intent!, now)
    case 'confirm_intent':
      return confirmIntent(tenant, wire.confirm_intent!, now)
    case 'cancel_intent':
      return cancelIntent(tenant, wire.cancel_intent!.intent_id)
    case 'remint_session':
      return remintSession(tenant, wire.remint_session!)
    case 'mint_receipt_token':
      return mintReceipt(tenant, wire.mint_receipt_token!.intent_id)
    case 'get_receipt':
      return getReceipt(tenant, wire.get_receipt!.intent_id, wire.get_receipt!.subject)
    case 'refund_intent':
      return refundIntent(
        tenant,
        wire.refund_intent!.intent_id,
        wire.refund_intent!.idempotency_key ?? null,
      )
    case 'create_payout':
      return createPayout(tenant, wire.create_payout!)
    case 'get_payout':
      return getPayout(tenant, wire.get_payout!.payout_id)
    case 'cancel_payout':
      return cancelPayout(tenant, wire.cancel_payout!.payout_id)
    case 'create_beneficiary':
      return createBeneficiary(tenant, wire.create_beneficiary!.beneficiary)
    case 'get_balances':
      return getBalances(tenant)
    case 'create_webhook_endpoint':
      return createWebhookEndpoint(tenant, wire.create_webhook_endpoint!)
    case 'list_webhook_endpoints':
      return listWebhookEndpoints(tenant)
    default:
      return unknownOperation() // of a newer gateway
  }
}

interface GatheredReplies {
  add(ticket: number, answer: Answer): void
  end(): void
}

function gatherReplies(stream: Stream): GatheredReplies {
  let waiting: WireReply[] = []
  let isOpen = true

  const flush = (): void => {
    if (!isOpen || waiting.length === 0) return
    const replies = waiting
    waiting = []
    for (let start = 0; start < replies.length; start += STREAM_BATCH_MAX) {
      stream.write({ replies: replies.slice(start, start + STREAM_BATCH_MAX) })
    }
  }

  return {
    add: (ticket, answer) => {
      if (!isOpen) return
      if (waiting.length === 0) queueMicrotask(flush)
      waiting.push(toWire(ticket, answer))
    },
    end: () => {
      isOpen = false
      waiting = []
    },
  }
}

function toWire(ticket: number, answer: Answer): WireReply {
  if (!answer.ok) return { ticket, code: answer.code }
  return { ticket, body: JSON.stringify(answer.view), replayed: answer.replayed ?? false }
}
