/**
 * An adapter with planted faults: the sandbox rail behind a server that changes orders on their way
 * in and reports on their way out.
 *
 * - What it pays twice is paid twice at the sandbox rail, under a second id.
 */
import { join } from 'node:path'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import type { Order__Output as Order } from '../../protos/types/causeway/rail/v1/Order.js'
import type { OrderBatch__Output as OrderBatch } from '../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { Instruction__Output as Instruction } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { RailClient, RailHandlers } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { Report__Output as Report } from '../../protos/types/causeway/rail/v1/Report.js'
import type { ReportBatch__Output as Reports } from '../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { newId, type EffectId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { aRail, random, shortFolder } from './harness.js'

/** One run of the adapter; a restart begins another one. */
export interface FaultyRun {
  /** The orders that go on, of one that came on this link. */
  order?(order: Order, link: number): readonly Order[] | Promise<readonly Order[]>
  report?(report: Report): Report
}

/** @param again pays the instruction once more, as a payment of its own */
export type WireFault = (again: PayAgain) => () => FaultyRun
export type PayAgain = (instruction: Instruction) => Order

export async function aFaultyAdapter(t: Test, fault: WireFault) {
  const folder = shortFolder(t)
  const address = `unix:${join(folder, 'faulty.sock')}`
  /** The ids of what was paid once more, by their second id. */
  const firstIds = new Map<string, string>()
  const again: PayAgain = (instruction) => {
    const id = newId<EffectId>('payout', systemClock.now(), random)
    firstIds.set(id, instruction.id)
    return instructing({ ...instruction, id })
  }
  const nextRun = fault(again)
  const start = async () => {
    const rail = await aRail(t, folder, { delayMs: 20 })
    const close = await serve(address, rail.address, nextRun(), (id) => firstIds.get(id) ?? id)
    return () => close().then(rail.close)
  }
  let stop = await start()
  t.teardown(() => stop())
  const restart = async (): Promise<void> => {
    await stop()
    stop = await start()
  }
  return { address, restart }
}

export const instructing = (instruct: Instruction): Order => ({ instruct, kind: 'instruct' })

async function serve(
  address: string,
  behind: string,
  run: FaultyRun,
  firstIdOf: (id: string) => string,
): Promise<() => Promise<void>> {
  const { Rail } = contracts<ProtoGrpcType>('rail.proto').causeway.rail.v1
  const stub: RailClient = new Rail(behind, CLEARTEXT.channelCredentials(behind))
  const server = new Server()
  let links = 0
  const handlers: RailHandlers = {
    Describe: ({ request, metadata }, callback) => void stub.Describe(request, metadata, callback),
    Summarize: ({ request, metadata }, callback) =>
      void stub.Summarize(request, metadata, callback),
    Link: (call) => {
      const link = (links += 1)
      const upstream = stub.Link(call.metadata)
      call.on('data', ({ orders }: OrderBatch) => {
        for (const order of orders) {
          void Promise.resolve(run.order?.(order, link) ?? [order]).then((changed) =>
            upstream.write({ orders: [...changed] }),
          )
        }
      })
      call.on('end', () => upstream.end())
      call.on('cancelled', () => upstream.cancel())
      upstream.on('data', ({ reports }: Reports) => {
        const known = reports.map((report) => ({ ...report, id: firstIdOf(report.id) }))
        call.write({ reports: known.map((report) => run.report?.(report) ?? report) })
      })
      upstream.on('error', (error) => call.destroy(error))
      upstream.on('end', () => call.end())
    },
  }
  server.addService(Rail.service, handlers)
  await new Promise<void>((bound, failed) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
      error === null ? bound() : failed(error),
    ),
  )
  return () =>
    new Promise((closed) => {
      server.forceShutdown()
      stub.close()
      closed()
    })
}
