/** A stub of the processor that the reporters of a pool call. */
import type { EventOutcomesClient } from '../../protos/types/causeway/internal/v1/EventOutcomes.js'

/** It takes each request, or answers with the fault that the test sets. */
export function aProcessor<Request>() {
  const [asked, taken]: [Request[], Request[]] = [[], []]
  let fault: Error | null = null
  const call = (request: Request, _m: object, _o: object, done: (fault: Error | null) => void) => {
    asked.push(request)
    if (fault === null) taken.push(request)
    done(fault)
  }
  const client = { Record: call, RecordDead: call, DisableEndpoint: call }
  return {
    client: client as unknown as EventOutcomesClient,
    ...{ asked, taken },
    fails: (given: Error | null) => (fault = given),
  }
}

export const UNREACHABLE = new Error('unreachable')
