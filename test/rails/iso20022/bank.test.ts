/** The bank's four functions, with a switch that answers as the test says. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import type { EffectId } from '../../../src/base/ids.js'
import type { BankOutcome, BankReceiver } from '../../../src/rails/adapter/bank.js'
import { createIsoBank } from '../../../src/rails/iso20022/bank.js'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../../src/rails/iso20022/codec.js'
import { readMembership } from '../../../src/rails/iso20022/membership_file.js'
import type { Message, MessageName } from '../../../src/rails/iso20022/messages.js'
import { uetrOf } from '../../../src/rails/iso20022/payment_messages.js'
import { openRecord, type Alarm } from '../../../src/rails/iso20022/record.js'
import { createSender, openReceiver, type Reply } from '../../../src/rails/iso20022/transport.js'
import { writeTrialNetwork } from '../../../src/rails/switch/trial_network.js'
import { freePort } from '../../../src/supervisor/ports.js'
import { SILENT_LOG as log } from '../../support/logs.js'
import { shortFolder } from '../harness.js'
import {
  notification,
  PAYOUT,
  PROXY_TRANSFER,
  resolution,
  SAMPLES,
  statusReport,
  TRANSFER,
} from './samples.js'

const OTHER = PROXY_TRANSFER.id
const answering = (message: Message): Reply => ({ status: 200, body: writeMessage(message) })

/** @param answer of the switch to each message @param receive of the adapter */
async function aBank(
  t: Test,
  answer: (name: MessageName) => Reply,
  receive: BankReceiver = () => Promise.resolve(),
) {
  const folder = shortFolder(t)
  const ports = { adapter: await freePort('127.0.0.1'), switch: await freePort('127.0.0.1') }
  const files = writeTrialNetwork(folder, ports, systemClock.now())
  const [us, peer] = [
    await readMembership(files.adapterFile),
    await readMembership(files.switchFile),
  ] as const
  const asked: MessageName[] = []
  const theSwitch = await openReceiver({
    ...{ ...peer, address: peer.listen, onRefused: () => undefined },
    take: (body) => {
      const { name } = readMessage(body, MESSAGE_BOUNDS)
      asked.push(name)
      return Promise.resolve(answer(name))
    },
  })
  const record = await openRecord(join(folder, 'record.db'), systemClock)
  const alarms: Alarm[] = []
  const bank = createIsoBank({
    ...{ us, record, log, clock: systemClock, onAlarm: (kind) => void alarms.push(kind) },
  })
  const received: (readonly [EffectId, BankOutcome['kind']])[] = []
  await bank.listen((id, outcome) => {
    received.push([id, outcome.kind])
    return receive(id, outcome)
  })
  const sender = createSender(peer.sendTo, peer)
  t.teardown(async () => {
    sender.close()
    await bank.close()
    await theSwitch.close()
    await record.close()
  })
  const say = (message: Message): Promise<unknown> => sender.send(writeMessage(message))
  return { bank, record, asked, alarms, received, say }
}

t.test('of an answer only what it says of this payment counts', async (t) => {
  const [others] = bodyOf(statusReport('ACSC', undefined, 7n, OTHER))
  const own = statusReport('RJCT', 'AC04')
  const both = { ...own, body: { ...own.body, TxInfAndSts: [others!, ...bodyOf(own)] } } as Message
  const answers = [statusReport('ACSC', undefined, 7n, OTHER), both]
  const { bank } = await aBank(t, () => answering(answers.shift()!))
  await t.rejects(bank.query(TRANSFER), { message: 'the answer says nothing of the payment' })
  t.same(await bank.query(TRANSFER), { kind: 'refused', refusal: 'account_closed' })
})

function bodyOf(message: Message) {
  if (message.name !== 'pacs.002.001.11') throw new Error('another message')
  return message.body.TxInfAndSts
}

t.test('a status without an answer is one that comes later, or a fault', async (t) => {
  const statuses = [202, 204, 500, 404]
  const { bank } = await aBank(t, () => ({ status: statuses.shift()! }))
  const submit = () => bank.submit(TRANSFER, systemClock.now())
  t.same(await submit(), { kind: 'accepted' })
  t.same(await submit(), { kind: 'accepted' })
  await t.rejects(submit(), { message: 'the switch answered 500' })
  await t.rejects(submit(), { message: 'the switch answered 404' })
})

t.test('money that was returned before its recall is asked for', async (t) => {
  const answers = [resolution('RJCR', 'ARDT'), SAMPLES['pacs.004.001.10']]
  const { bank, asked } = await aBank(t, () => answering(answers.shift()!))
  const returned = { kind: 'returned', transactionId: uetrOf(PAYOUT), amount: 1_250_000n }
  t.match(await bank.recall(TRANSFER, 'refund'), returned)
  t.same(asked, ['camt.056.001.09', 'pacs.028.001.04'])
})

t.test('what is not stored is not taken', async (t) => {
  const full = () => Promise.reject(new Error('the disk is full'))
  const { say, received } = await aBank(t, () => ({ status: 204 }), full)
  await t.rejects(say(SAMPLES['pacs.004.001.10']), { message: 'the switch answered 500' })
  t.same(received, [[PAYOUT, 'returned']])
})

t.test('notifications of one message: each is read, and its pages are its own', async (t) => {
  const { say, received, record, alarms } = await aBank(t, () => ({ status: 204 }))
  const messages = [PAYOUT, OTHER].map((id, index) =>
    notification(id, { minor: 500n, currency: 'VND' }, String(7 + index)),
  ) as Extract<Message, { name: 'camt.054.001.08' }>[]
  const [first] = messages
  const MsgPgntn = { PgNb: '2', LastPgInd: 'true' }
  const Ntfctn = messages.flatMap(({ body }) => body.Ntfctn)
  await say({ ...first!, body: { GrpHdr: { ...first!.body.GrpHdr, MsgPgntn }, Ntfctn } })
  t.same(received, [
    [PAYOUT, 'executed'],
    [OTHER, 'executed'],
  ])
  t.same([await record.notices(), alarms], [[], []])
  const [later] = Ntfctn
  const gap = { ...later!, ElctrncSeqNb: '10' }
  await say({ ...first!, body: { ...first!.body, Ntfctn: [gap] } })
  t.same(await record.notices(), [{ kind: 'notification_missing', subject: 'VND', code: '9' }])
  t.same(alarms, ['notification_missing'])
})
