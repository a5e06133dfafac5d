/**
 * Payouts and confirms behind a real screening service over gRPC: what it decides, what happens
 * without an answer, and that no key is decided twice.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { ScreenRequest__Output as ScreenRequest } from '../../protos/types/causeway/screening/v1/ScreenRequest.js'
import type { ScreeningHandlers } from '../../protos/types/causeway/screening/v1/Screening.js'
import { configuredCaller, createCallers, callerEntry } from '../../src/auth/callers.js'
import { systemClock } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { CLEARTEXT, openGrpcTls } from '../../src/grpc/tls.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { bySession } from '../../src/processor/commands/intents/token_commands.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { Command } from '../../src/processor/cycle/command.js'
import {
  createScreenedPipeline,
  SCREENED_MAX,
  type ScreenedPipeline,
} from '../../src/processor/cycle/screened_pipeline.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import {
  connectScreening,
  screeningOf,
  type ConnectedScreening,
} from '../../src/screening/client.js'
import { withRecentDecisions } from '../../src/screening/recent_decisions.js'
import type { Outcome } from '../../src/screening/screening.js'
import { startScreening, type ScreeningServer } from '../../src/screening/sandbox/server.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { tempFolder } from '../support/temp_folder.js'
import { SILENT_LOG } from '../support/logs.js'
import { BY_TEST, codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { beginLifecycle } from './intent_lifecycle.js'
import { balanceOf, payout, readAll, type PayoutView, approve, reject } from './scenarios.js'

const TOKEN = 'cwy_processor_'.padEnd(64, 'x')
const callers = createCallers(
  [configuredCaller(callerEntry('processor', 'processor', TOKEN))],
  systemClock,
)
const FUNDS = { available: '1000000000', reserved: '0' }

type Screen = ScreeningHandlers['Screen']

interface Service {
  readonly asked: ScreenRequest[]
  /** How it answers from now on. */
  screen: Screen
  readonly address: string
  restart(): Promise<void>
  stop(): Promise<void>
}

const deciding =
  (decision: string): Screen =>
  (_, callback) =>
    callback(null, { decision })
const PASS = deciding('pass')
const SILENT: Screen = () => undefined
const FAILING: Screen = (_, callback) =>
  callback({ code: status.INTERNAL, details: 'a name that is not to be logged' })

async function serve(t: Test): Promise<Service> {
  const asked: ScreenRequest[] = []
  let server: ScreeningServer
  const start = (port: number): Promise<ScreeningServer> =>
    startScreening({
      ...{ address: `127.0.0.1:${port}`, callers, tls: CLEARTEXT },
      handlers: {
        Screen: (call, callback) => {
          asked.push(call.request)
          service.screen(call, callback)
        },
      },
    })
  server = await start(0)
  const { port } = server
  const service: Service = {
    ...{ asked, screen: PASS, address: `127.0.0.1:${port}` },
    restart: async () => {
      server = await start(port)
    },
    stop: () => server.close(),
  }
  t.teardown(() => server.close())
  return service
}

/** Longer than a busy machine needs for an answer. */
const PATIENT_MS = 60_000

interface Screened {
  readonly world: World
  readonly service: Service
  readonly screening: Pick<ConnectedScreening, 'ask' | 'fault'>
  readonly front: ScreenedPipeline
  readonly outcomes: string[]
  readonly logged: unknown[]
  run(command: Command, queueKey?: TenantId): Promise<Answer>
  /** Requests a payout; a new one unless it is given. */
  create(request?: ReturnType<typeof payout>): Promise<Answer>
}

async function screened(t: Test, { token = TOKEN, recent = false } = {}): Promise<Screened> {
  const world = await createWorld(t)
  const service = await serve(t)
  const logged: unknown[] = []
  const note = (...line: unknown[]): void => void logged.push(line)
  const connected = (timeoutMs: number): ConnectedScreening => {
    const connection = connectScreening({
      ...{ address: service.address, token, tls: CLEARTEXT, timeoutMs },
      log: { info: note, warn: note } as never,
    })
    t.teardown(() => connection.close())
    return connection
  }
  const [patient, hasty] = [connected(PATIENT_MS), connected(100)]
  let asked = patient
  const screening: Screened['screening'] = {
    ask: (request) => (asked = service.screen === SILENT ? hasty : patient).ask(request),
    fault: () => asked.fault(),
  }
  const outcomes: string[] = []
  const front = createScreenedPipeline(
    { submit: (work) => world.submit(work), idle: () => Promise.resolve() },
    recent ? withRecentDecisions(screening) : screening,
    { now: () => 0, screened: (purpose, outcome) => void outcomes.push(`${purpose} ${outcome}`) },
  )
  const run = (command: Command, queueKey = DEMO): Promise<Answer> =>
    new Promise((reply) =>
      front.submit({
        ...{ queueKey, command, origin: BY_TEST, deadline: null, signedBy: null, reply },
      }),
    )
  const create = (request = payout()): Promise<Answer> => run(createPayout(DEMO, request))
  return { world, service, screening, front, outcomes, logged, run, create }
}

interface Held {
  readonly cause?: string
  readonly payout: PayoutView
}

const heldIn = (world: World): Promise<Held[]> =>
  readAll<Held>(world, (page) => listHeldPayouts({ limit: 10, ...page }))

t.test('a payout that passes is submitted', async (t) => {
  const { world, service, outcomes, create } = await screened(t)
  const request = payout({ reference: 'sandbox:risk' })
  const paid = viewOf<PayoutView>(await create(request))
  t.equal(paid.status, 'processing', 'the service decides, not the reference')
  const { amount, currency, reference, beneficiary } = request
  const { name, destination_country: country, account_number } = beneficiary!
  t.match(service.asked, [
    {
      ...{ environment: 'sandbox', partner_id: 'demo', purpose: 'payout' },
      ...{ amount, currency, reference },
      payee: { name, country, scheme: 'bank_account', account_number },
    },
  ])
  t.same(outcomes, ['payout pass'])

  const again = await create(request)
  t.match(again, { ok: true, replayed: true, view: { id: paid.id } })
  t.equal(service.asked.length, 1, 'a recorded key is not screened again')
  t.equal(world.railInstructions.length, 1)
})

t.test('a rejected payout changes nothing, and its key asks the same question', async (t) => {
  const { world, service, create } = await screened(t)
  const request = payout()
  for (const code of ['compliance_rejected', 'risk_rejected']) {
    service.screen = deciding(code)
    t.equal(codeOf(await create(request)), code)
    t.same(await balanceOf(world), FUNDS)
  }
  const [first, second] = service.asked
  t.equal(second!.id, first!.id)
  await create({ ...request, amount: '12600000' })
  t.not(service.asked[2]!.id, first!.id, 'another content is another question')
  await world.rebuild()
  await create(request)
  t.equal(service.asked[3]!.id, first!.id, 'also after a restart')
})

t.test('a key that is asked again gets the same decision', async (t) => {
  const { service, create } = await screened(t, { recent: true })
  const request = payout()
  const pay = async (over: object = {}): Promise<string> =>
    codeOf(await create({ ...request, ...over }))
  service.screen = deciding('risk_rejected')
  t.equal(await pay(), 'risk_rejected')
  service.screen = deciding('compliance_rejected')
  t.equal(await pay(), 'risk_rejected', 'also when the service would decide otherwise')
  t.equal(service.asked.length, 1)
  const other = await pay({ amount: '12600000' })
  t.equal(other, 'compliance_rejected', 'another content is asked about')
  t.equal(await pay({ idempotency_key: 'another' }), 'compliance_rejected', 'so is another key')
})

t.test('decisions are kept, up to a bound, and no other outcome', async (t) => {
  const asked: string[] = []
  const outcomes: Outcome[] = ['late', 'error', 'malformed', 'pass', 'risk_rejected']
  const { ask } = withRecentDecisions(
    {
      ask: ({ id = '' }) => {
        asked.push(id)
        return Promise.resolve(outcomes[asked.length - 1] ?? 'compliance_rejected')
      },
    },
    2,
  )
  const outcomesOf = async (ids: string): Promise<Outcome[]> => {
    const found: Outcome[] = []
    for (const id of ids) found.push(await ask({ id }))
    return found
  }
  t.same(await outcomesOf('aaaa'), ['late', 'error', 'malformed', 'pass'])
  t.same(await outcomesOf('aba'), ['pass', 'risk_rejected', 'pass'])
  t.same(await outcomesOf('cab'), ['compliance_rejected', 'pass', 'compliance_rejected'])
  t.equal(asked.join(''), 'aaaabcb', 'the least recently used one is forgotten')
})

t.test('without an answer a payout is held with its cause', async (t) => {
  const { world, service, screening, outcomes, logged, create } = await screened(t)
  const ways: [string, Screen][] = [
    ['late', SILENT],
    ['error', FAILING],
    ['malformed', deciding('maybe')],
    ['malformed', deciding('')],
  ]
  for (const [outcome, screen] of ways) {
    service.screen = screen
    const request = payout()
    const held = viewOf<PayoutView>(await create(request))
    t.equal(held.status, 'created', outcome)
    t.equal(outcomes.at(-1), `payout ${outcome}`)
    t.type(screening.fault(), 'string')
    service.screen = PASS
    const again = await create(request)
    t.match(again, { ok: true, replayed: true, view: { id: held.id, status: 'created' } })
  }
  service.screen = PASS
  viewOf(await create())
  t.equal(screening.fault(), null)
  t.notMatch(JSON.stringify(logged), /a name that/)
  const held = await heldIn(world)
  const causes = held.map(({ cause }) => cause)
  t.same(causes, Array(ways.length).fill('screening_unavailable'))
  t.equal(world.railInstructions.length, 1)
  await world.rebuild()
  const [approved, rejected] = held.map(({ payout: { id } }) => id)
  t.match(await approve(world, approved!), { view: { status: 'processing' } })
  t.match(await reject(world, rejected!), { view: { status: 'failed' } })
  t.equal(world.railInstructions.length, 2, 'what is approved is not screened again')
})

t.test('a service that is gone, and one that comes back', async (t) => {
  const { service, outcomes, create } = await screened(t)
  await service.stop()
  const held = viewOf<PayoutView>(await create())
  t.equal(held.status, 'created')
  t.same(outcomes, ['payout error'], 'a refused connection is not waited for')
  await service.restart()
  await eventually('it passes again', async () => {
    viewOf(await create())
    return outcomes.at(-1) === 'payout pass'
  })
})

t.test('a call without the token has no answer', async (t) => {
  const { service, outcomes, create } = await screened(t, { token: 'wrong'.padEnd(64, 'x') })
  viewOf(await create())
  t.same(outcomes, ['payout error'])
  t.equal(service.asked.length, 0)
})

t.test('a service that does not speak gRPC has no answer', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 200 OK\r\n\r\npass')
  })
  const screening = connectScreening({
    address: `127.0.0.1:${await listen(t, server)}`,
    ...{ token: TOKEN, tls: CLEARTEXT, timeoutMs: 500 },
    log: { info: () => undefined, warn: () => undefined },
  })
  t.teardown(() => screening.close())
  t.match(await screening.ask({ id: 'q' }), /^(?:error|late)$/)
  t.type(screening.fault(), 'string')
})

t.test('over TLS, with the files and the token file of the settings', async (t) => {
  const folder = tempFolder(t)
  const ca = createAuthority()
  const filesOf = (name: string): ReturnType<typeof writeTlsFiles> =>
    writeTlsFiles(folder, name, ca.issue(name), ca)
  const silent = SILENT_LOG
  const server = await startScreening({
    ...{ address: '127.0.0.1:0', callers, tls: openGrpcTls(filesOf('screening'), silent) },
  })
  t.teardown(server.close)
  const files = filesOf('processor')
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 })
  const given = {
    SCREENING_ADDRESS: `127.0.0.1:${server.port}`,
    SCREENING_TOKEN_FILE: tokenFile,
    SCREENING_TLS_CERT_FILE: files.GRPC_TLS_CERT_FILE,
    SCREENING_TLS_KEY_FILE: files.GRPC_TLS_KEY_FILE,
    SCREENING_TLS_CA_FILE: files.GRPC_TLS_CA_FILE,
    SCREENING_TIMEOUT_MS: '4000',
  }
  const ask = (settings: Record<string, string>, request: object): Promise<string> => {
    const screening = screeningOf(readSettings(settings, ''), CLEARTEXT, silent)!
    t.teardown(() => screening.close())
    return screening.ask({ id: 'q', ...request })
  }
  const sandbox = { environment: 'sandbox', reference: 'sandbox:risk' }
  t.equal(await ask(given, sandbox), 'risk_rejected')
  t.equal(await ask(given, { ...sandbox, environment: 'production' }), 'error')
  const clear = { ...given, SCREENING_TLS_CERT_FILE: '' }
  t.throws(() => readSettings(clear, ''), /only allowed together/)
  const far = { SCREENING_ADDRESS: 'screening.example:1' }
  t.throws(() => readSettings(far, ''), /SCREENING_ADDRESS=.* in the clear/)
  t.equal(screeningOf(readSettings({}, ''), CLEARTEXT, silent), undefined)
})

t.test('requests with one key are decided in their order, others pass', async (t) => {
  const { world, service, create } = await screened(t)
  const waiting: (() => void)[] = []
  service.screen = (_, callback) => void waiting.push(() => callback(null, { decision: 'pass' }))
  const request = payout()
  const first = create(request)
  const second = create(request)
  const third = create({ ...request, amount: '12600000' })
  const other = create()
  await eventually('both are asked', () => waiting.length === 2)
  waiting[1]!()
  t.match(await other, { ok: true, view: { status: 'processing' } })
  waiting[0]!()
  const { id } = viewOf<PayoutView>(await first)
  t.match(await second, { ok: true, replayed: true, view: { id } })
  t.equal(codeOf(await third), 'duplicate_payout')
  t.equal(service.asked.length, 2)
  t.equal(world.railInstructions.length, 2)
})

t.test('a crash between the answer and the commit repeats the question', async (t) => {
  const { world, service, run, create } = await screened(t)
  const request = payout()
  let crash: () => void = () => undefined
  const crashed = new Promise<void>((resolve) => (crash = resolve))
  service.screen = (_, callback) => {
    // Its submit reaches a processor that is gone.
    crash()
    setImmediate(() => callback(null, { decision: 'pass' }))
  }
  const lost = createPayout(DEMO, request)
  void run({ ...lost, decide: () => ({ ok: false, code: 'timeout' }) })
  await crashed
  await world.rebuild()
  t.same(await balanceOf(world), FUNDS)
  service.screen = PASS
  t.match(await create(request), { ok: true, view: { status: 'processing' } })
  t.equal(service.asked[1]!.id, service.asked[0]!.id)
  t.equal(world.railInstructions.length, 1)
})

t.test('a refusal and recovery mode are not screened', async (t) => {
  const { world, service, create } = await screened(t)
  t.equal(codeOf(await create(payout({ currency: 'THB' }))), 'unsupported_currency')
  const memory = world.memory()
  memory.isUnverified = true
  t.equal(codeOf(await create()), 'configuration_error')
  memory.isUnverified = false
  t.equal(service.asked.length, 0)
})

t.test('a tenant has half of the places, and the next one finds one', async (t) => {
  const { service, front, run, outcomes, create } = await screened(t)
  const waiting: (() => void)[] = []
  service.screen = (call, callback) => void waiting.push(() => FAILING(call, callback))
  const request = payout()
  const all = Array.from({ length: SCREENED_MAX / 2 + 1 }, () => create(request))
  t.equal(codeOf(await all.at(-1)!), 'configuration_error')
  t.same(outcomes, ['payout full'])
  const other = run(createPayout(DEMO, payout()), 'other_sandbox' as TenantId)
  await eventually('each is asked about', () => waiting.length === 2)
  for (const answer of waiting) answer()
  t.equal(codeOf(await other), 'ok', 'it is held for review, as every payout without a decision')
  await front.idle()
  const ids = (await Promise.all(all.slice(0, -1))).map((each) => viewOf<PayoutView>(each).id)
  t.equal(new Set(ids).size, 1)
})

t.test('a confirm', async (t) => {
  const { world, service, run, outcomes } = await screened(t)
  const intent = await beginLifecycle(world)
  viewOf(await intent.scan('100'))
  const jti = world.memory().intents.get(intent.id)!.context.session.jti
  const request = { intent_id: intent.id, session_jti: jti, idempotency_key: 'k' }
  const confirm = (): Promise<Answer> => run(confirmIntent(DEMO, request, world.clock.now()))
  service.screen = SILENT
  t.equal(codeOf(await confirm()), 'configuration_error')
  t.equal((await intent.see()).status, 'created', 'nothing is consumed')
  for (const code of ['compliance_rejected', 'risk_rejected']) {
    service.screen = deciding(code)
    t.equal(codeOf(await confirm()), code)
  }
  t.equal(new Set(service.asked.map(({ id }) => id)).size, 1)
  service.screen = (_, callback) =>
    void intent.scan('120').then(() => callback(null, { decision: 'pass' }))
  t.equal(codeOf(await confirm()), 'configuration_error', 'the answer was for another quote')
  service.screen = PASS
  t.match(await confirm(), { ok: true, view: { status: 'authorized' } })
  t.match(await confirm(), { ok: true, replayed: true })
  t.same(outcomes.slice(3), ['qr_payment pass', 'qr_payment pass'])
  t.match(service.asked.at(-1), {
    purpose: 'qr_payment',
    currency: 'THB',
    payment_intent_id: intent.id,
    partner_user_id: intent.user,
    payee: { scheme: 'promptpay', country: 'TH', account_number: '0066812345678' },
  })
  t.equal(world.railInstructions.length, 1)
})

t.test('a confirm of an internal service, with the token of its session', async (t) => {
  const { world, service, run } = await screened(t)
  const intent = await beginLifecycle(world)
  viewOf(await intent.scan('100'))
  const { session_token } = viewOf<{ session_token: string }>(await intent.remint())
  const request = { intent_id: intent.id, idempotency_key: 'k' }
  const confirm = (token: string, rule?: string): Promise<Answer> => {
    const session = { intentId: intent.id, token, appPackage: undefined }
    const confirmed = (session_jti: string): Command =>
      confirmIntent(DEMO, { ...request, session_jti }, world.clock.now())
    const fault = rule === undefined ? null : { pointer: '/quote_id', rule }
    return run(bySession(DEMO, session, confirmed, fault))
  }
  t.equal(codeOf(await confirm(`${session_token}x`)), 'authentication_failed')
  t.equal(codeOf(await confirm(session_token, 'must be a string')), 'invalid_request')
  t.equal(service.asked.length, 0, 'what is refused is not asked about')
  service.screen = deciding('compliance_rejected')
  t.equal(codeOf(await confirm(session_token)), 'compliance_rejected')
  t.equal((await intent.see()).status, 'created')
  service.screen = PASS
  t.match(await confirm(session_token), { ok: true, view: { status: 'authorized' } })
  t.match(await confirm(session_token), { ok: true, replayed: true })
  t.match(service.asked, [{ payment_intent_id: intent.id }, { payment_intent_id: intent.id }])
  t.equal(service.asked.length, 2)
})

t.test('a command that has lost its question is refused', async (t) => {
  const { world, service, run } = await screened(t)
  const { name, needs, decide } = createPayout(DEMO, payout())
  t.equal(codeOf(await run({ name, needs, decide })), 'configuration_error')
  t.same(await balanceOf(world), FUNDS)
  t.equal(service.asked.length, 0)
})
