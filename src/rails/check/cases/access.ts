/** Lines about tokens and malformed orders. */
import { status } from '@grpc/grpc-js'
import type { CheckCase } from '../check_case.js'
import { demand, Skipped, type CheckContext } from '../context.js'
import { ask } from '../expectations.js'
import type { Answered } from '../probe.js'

const WRONG = `wrong_${'x'.repeat(40)}`

export const ACCESS: readonly CheckCase[] = [
  {
    name: 'no_token',
    sentence: 'UNAUTHENTICATED: without the token.',
    run: (check) => demandRefused(check, ''),
  },
  {
    name: 'wrong_token',
    sentence: 'Another token is no token.',
    run: (check) => demandRefused(check, WRONG),
  },
  {
    name: 'malformed_order',
    sentence: 'A malformed order gets no answer.',
    run: async (check) => {
      const link = check.open()
      const malformed = check.make('paid', { amount: '-1' })
      const unknown = check.make('paid')
      void link.send({ instruct: malformed })
      await ask(link, unknown)
      const [answer] = link.about(malformed.id)
      demand(answer === undefined, `an amount of -1 is answered with \`${answer?.status}\``)
      const { status: known } = await ask(link, malformed)
      demand(known === 'not_found', `an amount of -1 is \`${known}\``)
    },
  },
]

async function demandRefused(check: CheckContext, token: string): Promise<void> {
  if (!check.hasToken) throw new Skipped('the kit has no token: its credential is a certificate')
  const described = await check.probe.describe({ token })
  demand(isRefused(described), `Describe answers a call with such a token`)
  const summary = await check.probe.summarize(0, 1, { token })
  const isMissing = summary.kind === 'fault' && summary.code === status.UNIMPLEMENTED
  demand(isMissing || isRefused(summary), 'Summarize answers a call with such a token')
  const code = await check.open({ token }).ended()
  demand(code === status.UNAUTHENTICATED, `Link ends with the code ${code}`)
}

const isRefused = (answer: Answered<unknown>): boolean =>
  answer.kind === 'fault' && answer.code === status.UNAUTHENTICATED
