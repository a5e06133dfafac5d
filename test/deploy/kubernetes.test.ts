/** The Kubernetes manifests: their form, and what they name. */
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { parse } from 'yaml'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { guidePage } from '../support/operators_guide.js'
import { documentsIn, faultsOf, filesIn, textOf, type Environment } from './deployment.js'

interface Named {
  readonly name: string
}
interface Container extends Named {
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly (Named & { readonly value?: string })[]
  readonly envFrom?: readonly { readonly configMapRef: Named }[]
  readonly ports?: readonly (Named & { readonly containerPort: number })[]
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[]
  readonly livenessProbe?: object
  readonly readinessProbe?: object
  readonly securityContext: object
}
interface Mode {
  readonly defaultMode?: number
}
interface Volume extends Named {
  readonly secret?: Mode
  readonly projected?: Mode
}
interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes: readonly Volume[]
  readonly securityContext: object
}
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Named
  readonly data?: Environment
  readonly spec?: {
    readonly template?: {
      readonly metadata: { readonly labels: Environment }
      readonly spec: PodSpec
    }
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[]
    readonly updateStrategy?: { readonly type: string }
    readonly ingress?: readonly Rule[]
    readonly egress?: readonly Rule[]
  }
}
type Models = Readonly<Record<string, new (data: unknown) => { validate(): void }>>
interface Rule {
  readonly ports?: readonly { readonly port: number }[]
}
interface Kustomization {
  readonly resources: readonly string[]
  readonly configMapGenerator?: readonly (Named & {
    readonly literals?: readonly string[]
    readonly files?: readonly string[]
  })[]
}

const isKustomization = (file: string): boolean => file.endsWith('kustomization.yaml')
const files = filesIn('kubernetes').filter((file) => file.endsWith('.yaml'))
const manifests = files
  .filter((file) => !isKustomization(file))
  .flatMap((file) => documentsIn(file).map((each) => ({ file, manifest: each as Manifest })))
const pods = manifests.flatMap(({ file, manifest: { metadata, spec } }) =>
  spec?.template === undefined
    ? []
    : [{ file, name: metadata.name, spec: spec.template.spec, claims: spec.volumeClaimTemplates }],
)
const OVERLAYS = ['production', 'sandbox']

t.test("manifests follow Kubernetes' own schemas", async (t) => {
  for (const { file, manifest } of manifests) {
    const { apiVersion, kind } = manifest
    const model = (await import(`kubernetes-models/${apiVersion}/${kind}`)) as Models
    t.doesNotThrow(() => new model[kind]!(manifest).validate(), `${file}: ${kind}`)
  }
})

t.test('manifests have no unknown field', async (t) => {
  const literal = ({ apiVersion, kind }: Manifest, text: string, index: number): string =>
    `import type { I${kind} as K${index} } from 'kubernetes-models/${apiVersion}/${kind}'\n` +
    `export const m${index}: K${index} = ${text}\n`
  const all = manifests.map(({ manifest }, i) => literal(manifest, JSON.stringify(manifest), i))
  t.strictSame(typeFaults(all.join('')), [])
  const { manifest } = manifests.find(({ manifest }) => manifest.metadata.name === 'gateway')!
  const wrong = JSON.stringify(manifest).replace('"readinessProbe"', '"readynessProbe"')
  t.match(typeFaults(literal(manifest, wrong, 0)).join(), /readynessProbe/, 'a wrong name is found')
})

/** What the compiler says about a text: excess members of object literals are faults. */
function typeFaults(text: string): string[] {
  const name = join(projectRoot(), 'test/deploy/manifests_of_the_test.ts')
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], lib: ['lib.es2023.d.ts'] },
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, text, rest[0]) : getSourceFile(file, ...rest)
  host.fileExists = (file) => file === name || fileExists(file)
  host.readFile = (file) => (file === name ? text : readFile(file))
  const program = ts.createProgram([name], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

t.test('each Kustomization names what there is', async (t) => {
  const reached = new Set<string>()
  for (const file of files.filter(isKustomization)) {
    const { resources, configMapGenerator } = documentsIn(file)[0] as Kustomization
    for (const resource of resources) {
      const target = normalize(join(dirname(file), resource))
      const found = target.endsWith('.yaml') ? target : join(target, 'kustomization.yaml')
      t.ok(files.includes(found), found)
      reached.add(found)
    }
    for (const name of configMapGenerator?.flatMap(({ files }) => files ?? []) ?? []) {
      t.ok(JSON.parse(textOf(join(dirname(file), name))), name)
    }
  }
  t.strictSame(
    files.filter((file) => !reached.has(file) && !file.includes('/overlays/')),
    [],
    'no manifest is left out',
  )
})

for (const overlay of OVERLAYS) {
  t.test(`${overlay}: programs, settings and ports exist`, async (t) => {
    const maps = configMaps(overlay)
    const ours = pods.filter(({ file }) => /\/base\//.test(file) || file.includes(`/${overlay}/`))
    for (const { name, spec } of ours) {
      for (const container of spec.containers) {
        const own = Object.fromEntries(
          (container.env ?? []).map(({ name, value }) => [name, value ?? '1']),
        )
        const given = expanded(own)
        const named = (container.envFrom ?? []).map(({ configMapRef }) => maps[configMapRef.name])
        t.notOk(named.includes(undefined), `${name}: its config maps exist`)
        const shared = Object.assign({}, ...named) as Environment
        t.strictSame(faultsOf(container.args ?? [], given, shared), [], name)
        const ports = Object.entries({ ...shared, ...given }).flatMap(([key, value]) =>
          /_(PORT|LISTEN)$/.test(key) ? [Number(value.replace(/^.*:/, ''))] : [],
        )
        for (const { containerPort } of container.ports ?? []) {
          t.ok(ports.includes(containerPort), `${name}: ${containerPort}`)
        }
      }
    }
    for (const name of Object.values(maps).flatMap((map) => Object.keys(map ?? {}))) {
      t.ok(Object.hasOwn(SETTINGS, name), name)
    }
  })
}

/** The settings of an overlay's config maps. */
function configMaps(overlay: string): Readonly<Record<string, Environment | undefined>> {
  const file = `kubernetes/overlays/${overlay}/kustomization.yaml`
  const generated = (documentsIn(file)[0] as Kustomization).configMapGenerator ?? []
  const written = manifests.filter(({ manifest }) => manifest.kind === 'ConfigMap')
  return {
    ...Object.fromEntries(written.map(({ manifest: { metadata, data } }) => [metadata.name, data])),
    ...Object.fromEntries(
      generated.map(({ name, literals = [] }) => [
        name,
        Object.fromEntries(literals.map((text) => text.split(/=(.*)/s).slice(0, 2))),
      ]),
    ),
  }
}

/** `$(NAME)` as Kubernetes replaces it; POD_INDEX is there for that alone. */
function expanded({ POD_INDEX = '', ...environment }: Environment): Environment {
  const values: Environment = { ...environment, POD_INDEX }
  const replaced = (value: string): string =>
    value.replace(/\$\(([A-Z_]+)\)/g, (_, name: string) => values[name] ?? '')
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, replaced(value)]),
  )
}

t.test('a processor is replaced by hand, once its shard is given away', async (t) => {
  const isProcessor = ({ args = [] }: Container): boolean =>
    args.includes('.build/src/processor/main.js')
  const processors = manifests.filter(({ manifest: { spec } }) =>
    spec?.template?.spec.containers.some(isProcessor),
  )
  // The spare too: it waits without being ready, and owns a shard after a take-over.
  t.strictSame(
    processors.map(({ manifest: { metadata, spec } }) => [
      metadata.name,
      spec?.updateStrategy?.type,
    ]),
    [
      ['processor', 'OnDelete'],
      ['spare', 'OnDelete'],
    ],
  )
})

t.test('the PodMonitor of the guide finds every process with metrics', async (t) => {
  const [, block = ''] =
    /```yaml\n(apiVersion: monitoring[^]*?)```/.exec(guidePage('Alerts').text) ?? []
  const { spec } = parse(block) as PodMonitor
  const [endpoint] = spec.podMetricsEndpoints
  const found = manifests.flatMap(({ manifest: { metadata, spec: of } }) => {
    const { metadata: pod, spec: { containers = [] } = {} } = of?.template ?? {}
    const isSelected = Object.entries(spec.selector.matchLabels).every(
      ([name, value]) => pod?.labels[name] === value,
    )
    const ports = containers.flatMap(({ ports = [] }) => ports)
    return isSelected && ports.some(({ name }) => name === endpoint?.port) ? [metadata.name] : []
  })
  t.strictSame(found.toSorted(), ['gateway', 'processor', 'rail', 'spare', 'webhooks'])
})

interface PodMonitor {
  readonly spec: {
    readonly selector: { readonly matchLabels: Environment }
    readonly podMetricsEndpoints: readonly { readonly port: string }[]
  }
}

t.test('every pod is confined, and its volumes exist', async (t) => {
  for (const { name, spec, claims = [] } of pods) {
    t.match(spec.securityContext, {
      ...{ runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    })
    const volumes = [...spec.volumes, ...claims.map(({ metadata }) => metadata)].map(
      (volume) => volume.name,
    )
    for (const { name: volume, secret, projected } of spec.volumes) {
      const mounted = secret ?? projected
      if (mounted === undefined) continue
      t.equal(mounted.defaultMode, 0o440, `${name}: ${volume} is of its group alone`)
    }
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
      t.strictSame(
        container.securityContext,
        {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        name,
      )
      for (const mount of container.volumeMounts) t.ok(volumes.includes(mount.name), mount.name)
      if (container.ports !== undefined) {
        t.ok(container.livenessProbe && container.readinessProbe, `${name}: probes`)
      }
    }
  }
})

t.test('every pod has a network policy, and their ports are known', async (t) => {
  const policies = manifests.filter(({ manifest }) => manifest.kind === 'NetworkPolicy')
  const known = [53, 4_222, 4_318, 5_432, 8_443, 9_090, 50_051, 50_052, 50_053]
  for (const { manifest } of policies) {
    for (const { ports = [] } of [
      ...(manifest.spec?.ingress ?? []),
      ...(manifest.spec?.egress ?? []),
    ]) {
      for (const { port } of ports) t.ok(known.includes(port), `${manifest.metadata.name}: ${port}`)
    }
  }
  t.ok(policies.length >= 6)
  const portsOf = (policy: string): readonly number[] =>
    (
      policies.find(({ manifest }) => manifest.metadata.name === policy)?.manifest.spec?.egress ??
      []
    )
      .flatMap(({ ports = [] }) => ports)
      .map(({ port }) => port)
  const portIn = (address: string): number => Number(address.replace(/^.*:/, ''))
  for (const name of ['RAIL_LISTEN', 'SCREENING_LISTEN'] as const) {
    t.ok(portsOf('processor').includes(portIn(SETTINGS[name].fallback)), `processor: ${name}`)
  }
  t.ok(portsOf('traces').includes(4_318), 'OTLP_URL')
  t.notOk(
    manifests.some(({ manifest }) => manifest.kind === 'Secret'),
    'no secret is in a manifest',
  )
})
