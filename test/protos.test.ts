/**
 * The public contracts: buf's rules, additions only since the last release, and the partner API
 * in HTTP, gRPC and the client.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { createClient } from '../src/client/client.js'
import { projectRoot } from '../src/base/project_root.js'
import { publicContracts } from '../src/grpc/contracts.js'
import { ROUTES } from '../gateway/app.js'
import { OPERATIONS } from '../src/api/operations.js'
import { GRPC_ONLY } from './contract/guide_operations.js'
import { META, openPartnerServices, TENANT, TOKEN } from './processor/partner_services.js'
import { answerOf } from './support/rpc_answers.js'
import { eventually } from './support/eventually.js'
import { anIntent } from './support/requests.js'

const run = promisify(execFile)
const PROTOS = join(projectRoot(), 'protos')
const RELEASE = join(projectRoot(), 'test/golden/protos_1.0.0.binpb')

/** What buf finds. Empty means nothing. */
const buf = async (...args: string[]): Promise<string> =>
  run(join(projectRoot(), 'node_modules/.bin/buf'), args).then(
    ({ stdout }) => stdout,
    (fault: unknown) => (fault as { stdout: string }).stdout,
  )

t.test('buf finds nothing in the public contracts', async (t) => {
  t.equal(await buf('lint', PROTOS), '')
  t.equal(await buf('breaking', PROTOS, '--against', RELEASE), '')
})

t.test('buf finds a bad name and a removed field', async (t) => {
  const protos = join(t.testdir({}), 'protos')
  cpSync(PROTOS, protos, { recursive: true, filter: (path) => !path.includes('/types') })
  const file = join(protos, 'payouts.proto')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('string reference = 9;', '').replace('fee = 7', 'Fee = 7'))
  t.match(await buf('lint', protos), 'should be lower_snake_case')
  const broken = await buf('breaking', protos, '--against', RELEASE)
  t.match(broken, 'field "9"')
  t.match(broken, 'changed name from "fee" to "Fee"')
})

interface ImageFile {
  readonly name: string
  readonly package: string
  readonly dependency?: readonly string[]
  readonly messageType?: readonly {
    readonly name: string
    readonly field?: readonly { readonly typeName?: string }[]
    readonly options?: { readonly deprecated?: boolean }
  }[]
  readonly service?: readonly {
    readonly method: readonly { readonly inputType: string; readonly outputType: string }[]
  }[]
}

/** The messages that no rpc carries, by full name. */
function unusedIn(files: readonly ImageFile[]): string[] {
  const fields = new Map(
    files.flatMap(({ package: scope, messageType = [] }) =>
      messageType.map(({ name, field = [] }) => [
        `.${scope}.${name}`,
        field.flatMap(({ typeName }) => typeName ?? []),
      ]),
    ),
  )
  const used = new Set<string>()
  const use = (name: string): void => {
    if (used.has(name)) return
    used.add(name)
    fields.get(name)?.forEach(use)
  }
  const methods = files.flatMap(({ service = [] }) => service.flatMap(({ method }) => method))
  for (const { inputType, outputType } of methods) [inputType, outputType].forEach(use)
  return [...fields.keys()].filter((name) => !used.has(name))
}

const labelOf = ({ package: name, name: path }: ImageFile): string => `${name} in ${path}`

t.test('the public contracts keep their files and have no internal message', async (t) => {
  const filesIn = async (source: string): Promise<ImageFile[]> => {
    const json = await buf('build', source, '--exclude-source-info', '-o', '-#format=json')
    return (JSON.parse(json) as { file: ImageFile[] }).file
  }
  const [files, released] = await Promise.all([filesIn(PROTOS), filesIn(RELEASE)])
  const labels = files.map(labelOf)
  t.same(
    released.map(labelOf).filter((label) => !labels.includes(label)),
    [],
    'released files stay',
  )

  const inside = files.filter(({ package: name }) => name === 'causeway.v1')
  const imported = inside.flatMap(({ dependency = [] }) => dependency)
  t.same(
    imported.filter((path) => !inside.some(({ name }) => name === path)),
    [],
    'public files import public files',
  )
  const messages = inside.flatMap(({ messageType = [] }) => messageType)
  const deprecated = messages.filter(({ options }) => options?.deprecated === true)
  const names = deprecated.map(({ name }) => name)
  t.same(unusedIn(inside).sort(), names.map((name) => `.causeway.v1.${name}`).sort())
  const known = released.flatMap(({ messageType = [] }) => messageType.map(({ name }) => name))
  t.same(
    names.filter((name) => !known.includes(name)),
    [],
    'only messages of the release stay unused',
  )
})

/** Methods of the client that combine or reach any operation. */
const CLIENT_ONLY = [
  ...['paymentIntents.poll', 'payouts.poll', 'session().get', 'session().poll', 'request'],
]

t.test('every rpc and every method of the client is that of an operation', async (t) => {
  const rpcs = Object.values(OPERATIONS).map(({ rpc }) => rpc)
  t.same([...rpcs, ...Object.keys(GRPC_ONLY)].sort(), publicRpcs().sort())
  const used = ROUTES.flatMap(({ operation }) => operation.client ?? [])
  t.same([...used, ...CLIENT_ONLY].sort(), clientMethods().sort())
})

/** Beside the test's own folder, which holds the books. */
function folderWith(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(projectRoot(), '.build/guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** A program in the guide of internal services. */
function example(name: string, language = 'js'): string {
  const guide = readFileSync(join(PROTOS, 'README.md'), 'utf8')
  const [, code] =
    new RegExp(`<!-- ${name} -->\n\n\`\`\`${language}\n(.*?)\`\`\``, 's').exec(guide) ?? []
  if (code === undefined) throw new Error(`no example ${name}`)
  return code
}

t.test('the programs of the guide run', async (t) => {
  const { address, clients } = await openPartnerServices(t)
  const make = (): Promise<{ intent_id: string }> =>
    answerOf((done) => {
      clients.PaymentIntents.Create({ tenant: TENANT, intent: anIntent() }, META, done)
    })
  const folder = folderWith(t, {
    'get.mjs': example('get'),
    'follow.mjs': example('follow'),
    'internal.token': `${TOKEN}\n`,
  })
  const env = { ...process.env, GRPC_PORT: address.split(':')[1], DATA_DIR: folder }
  const options = { cwd: projectRoot(), env }
  const { intent_id } = await make()
  const node = async (name: string, ...args: string[]): Promise<string> =>
    (await run(process.execPath, [join(folder, name), ...args], options)).stdout
  t.equal(await node('get.mjs', intent_id), 'created\n')
  t.match(await node('get.mjs', 'pi_1'), 'payment_intent_not_found')

  const follower = spawn(process.execPath, [join(folder, 'follow.mjs'), '0'], options)
  t.teardown(() => follower.kill('SIGKILL'))
  let output = ''
  follower.stdout.on('data', (chunk) => (output += String(chunk)))
  const cancel = (id: string): Promise<object> =>
    answerOf((done) => {
      clients.PaymentIntents.Cancel({ tenant: TENANT, intent_id: id }, META, done)
    })
  await cancel(intent_id)
  await eventually('the first event', () => output.includes('1 payment_intent.cancelled'))
  await cancel((await make()).intent_id)
  await eventually('the second event', () => output.includes('2 payment_intent.cancelled'))
})

/** A Python with the packages that the program needs. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import grpc, google.protobuf']).status === 0,
)

t.test(
  'the Python program of the guide runs',
  { skip: PYTHON === undefined && 'no python3 with grpcio (Debian: python3-grpcio)' },
  async (t) => {
    const { address, clients } = await openPartnerServices(t)
    const folder = folderWith(t, {
      'get.py': example('get python', 'python'),
      'internal.token': `${TOKEN}\n`,
    })
    const contracts = join(folder, 'contracts.binpb')
    t.equal(await buf('build', PROTOS, '--as-file-descriptor-set', '-o', contracts), '')
    const env = { ...process.env, GRPC_PORT: address.split(':')[1], DATA_DIR: folder }
    const python = async (id: string): Promise<string> =>
      (await run(PYTHON ?? '', ['-B', 'get.py', id], { cwd: folder, env })).stdout
    const { intent_id } = await answerOf<{ intent_id: string }>((done) => {
      clients.PaymentIntents.Create({ tenant: TENANT, intent: anIntent() }, META, done)
    })
    t.equal(await python(intent_id), 'created\n')
    t.equal(await python('pi_1'), 'payment_intent_not_found\n')
  },
)

const publicRpcs = (): string[] =>
  Object.entries(publicContracts()).flatMap(([name, definition]) =>
    Object.keys(definition).map((rpc) => `${name.replace('causeway.v1.', '')}.${rpc}`),
  )

function clientMethods(): string[] {
  const base = { baseUrl: 'http://127.0.0.1:1', keyId: 'k', secret: 's' }
  const client = createClient(base)
  const { session, receipts, ...others } = client
  return [
    ...methodsOf(others),
    ...methodsOf(session('t'), 'session().'),
    ...methodsOf(receipts('t'), 'receipts().'),
  ]
}

const methodsOf = (group: object, prefix = ''): string[] =>
  Object.entries(group).flatMap(([name, member]: [string, unknown]) =>
    typeof member === 'object' && member !== null
      ? methodsOf(member, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  )
