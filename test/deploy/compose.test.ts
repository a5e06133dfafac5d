/** The compose files: their form, and what they name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { splitAddress } from '../../src/base/network.js'
import { documentsIn, faultsOf, settingsOf, textOf, type Environment } from './deployment.js'

interface Service {
  readonly image: string
  readonly build?: { readonly dockerfile: string; readonly target: string }
  readonly command?: readonly string[]
  readonly environment?: Environment
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly configs?: Readonly<Record<string, { readonly file: string }>>
}

/** The schema of the compose specification. */
const schema = JSON.parse(
  readFileSync(join(projectRoot(), 'node_modules/dclint/schemas/compose.schema.json'), 'utf8'),
) as { $schema?: string }
delete schema.$schema // the same draft under an address that ajv does not know
const isCompose = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
  schema,
)

const FILES = ['compose/one_machine.yaml', 'compose/several.yaml']
const read = (file: string): Compose => documentsIn(file)[0] as Compose
const isOurs = ({ image }: Service): boolean => image.startsWith('causeway')
/** The CMD of a target of the Dockerfile. */
const commandOf = (service: Service): readonly string[] =>
  service.command ?? ['.build/src/supervisor/main.js']

for (const file of FILES) {
  const compose = read(file)
  const services = Object.entries(compose.services)

  t.test(`${file} follows the compose specification`, async (t) => {
    t.ok(isCompose(compose), JSON.stringify(isCompose.errors))
    t.notOk(isCompose({ ...compose, services: { a: { imagee: 'b' } } }), 'an unknown key is found')
  })

  t.test(`${file}: programs, settings and files exist`, async (t) => {
    const secrets = Object.keys(compose.secrets)
    for (const [name, service] of services) {
      const environment = service.environment ?? {}
      if (isOurs(service)) {
        t.strictSame(faultsOf(commandOf(service), environment), [], name)
        t.equal(service.build?.dockerfile, 'src/deploy/Dockerfile', name)
        t.match(textOf('Dockerfile'), ` AS ${service.build?.target ?? ''}\n`, name)
      }
      const named = JSON.stringify(service).matchAll(/\/run\/secrets\/([a-z.]+)/g)
      for (const [, secret = ''] of named) {
        t.ok(service.secrets?.includes(secret), `${name} has ${secret}`)
      }
      for (const secret of service.secrets ?? []) t.ok(secrets.includes(secret), secret)
      for (const volume of service.volumes ?? []) {
        t.ok(Object.hasOwn(compose.volumes, volume.split(':')[0] ?? ''), volume)
      }
    }
    for (const { file } of Object.values(compose.configs ?? {})) {
      t.ok(textOf(join('compose', file)).startsWith('#!/bin/sh\n'), file)
    }
    const made = secretsMade()
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      t.equal(file, `./secrets/${name}`)
      t.ok(made.has(name), `make_secrets.sh makes ${name}`)
    }
  })

  t.test(`${file}: every container is confined`, async (t) => {
    for (const [name, service] of services) {
      t.equal(service.read_only, true, name)
      t.strictSame(service.cap_drop, ['ALL'], name)
      t.strictSame(service.security_opt, ['no-new-privileges:true'], name)
    }
  })
}

t.test('several machines: each is reached where it listens', async (t) => {
  const { services } = read('compose/several.yaml')
  const settings = (name: string) => settingsOf(services[name]?.environment ?? {})
  for (const client of ['gateway-1', 'gateway-2', 'webhooks-1', 'webhooks-2']) {
    const addresses = settings(client).PROCESSORS.map(splitAddress)
    t.strictSame(
      addresses.map(({ host }) => host),
      ['processor-1', 'processor-2', 'processor-3'],
    )
    for (const { host, port } of addresses) t.equal(settings(host).GRPC_PORT, port)
  }
  for (const name of ['processor-1', 'processor-2', 'processor-3']) {
    const { GRPC_ADVERTISE, PROCESSOR_NAME, RAIL_ADDRESS, WEBHOOK_POOLS } = settings(name)
    t.equal(GRPC_ADVERTISE, `${name}:50051`)
    t.equal(PROCESSOR_NAME, name)
    t.equal(splitAddress(RAIL_ADDRESS).port, splitAddress(settings('rail').RAIL_LISTEN).port)
    t.equal(WEBHOOK_POOLS, 2)
  }
  t.strictSame(
    ['processor-1', 'processor-2', 'processor-3'].map((name) => settings(name).CLUSTER),
    ['member', 'member', 'spare'],
  )
  t.not(settings('processor-1').SHARD, settings('processor-2').SHARD)
  for (const name of ['gateway-1', 'gateway-2']) {
    t.match(services[name]?.ports?.[0], new RegExp(`:${settings(name).HTTP_PORT}$`))
  }
})

t.test('several machines: operators reach the processors', async (t) => {
  const { services } = read('compose/several.yaml')
  const { environment = {}, secrets = [], ports } = services['console'] ?? {}
  const settings = settingsOf(environment)
  t.strictSame(settings.PROCESSORS, settingsOf(services['gateway-1']?.environment ?? {}).PROCESSORS)
  t.equal(settings.GRPC_TLS_CERT_FILE, '/run/secrets/operator.pem')
  t.ok(secrets.includes('operator.token'), 'commands have a token')
  t.strictSame(ports, [`127.0.0.1:${settings.CONSOLE_PORT}:${settings.CONSOLE_PORT}`])
  t.not(settings.CONSOLE_TLS_CERT_FILE, '', 'it listens beyond loopback')
  t.match(textOf('compose/make_secrets.sh'), /^certificate api .*\blocalhost\b/m)
  t.match(textOf('compose/make_secrets.sh'), /^CALLERS=.*,operator:/m)
  for (const address of settings.CONSOLE_METRICS) {
    t.ok(Object.hasOwn(services, splitAddress(address).host), address)
  }
})

/** The names of the files that make_secrets.sh writes. */
function secretsMade(): ReadonlySet<string> {
  const script = textOf('compose/make_secrets.sh')
  const certificates = [...script.matchAll(/^certificate ([a-z]+) /gm)].flatMap(([, name = '']) => [
    `${name}.pem`,
    `${name}.key`,
  ])
  const passwords = /^for name in (.*); do secret/m.exec(script)?.[1]?.split(' ') ?? []
  const files = [...script.matchAll(/(?:>|-out )([a-z]+\.[a-z]+)/g)].map(([, name = '']) => name)
  return new Set([...certificates, ...passwords.map((name) => `${name}.password`), ...files])
}
