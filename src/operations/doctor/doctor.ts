/**
 * `doctor`: the checklist of a production machine: what `production check` finds, and the machine
 * itself: the running stack, files, certificates, disk, clock, backups, the PostgreSQL server, the
 * schemas of the databases.
 *
 * - An area that cannot be checked here is named. It is no finding. A fault that ends the check of
 *   an area is one.
 * - It changes nothing.
 */
import { systemClock } from '../../base/clock.js'
import { misspelledVariables } from '../../settings/settings_reader.js'
import type { LocalCommand } from '../cli/command.js'
import {
  findingsOfProcessors,
  findingsOfSettings,
  linesOf,
  type Finding,
} from './production_check.js'
import type { Settings } from '../../settings/settings.js'
import { checked, messageOf, type Area, type Seen } from './area.js'
import { certificates } from './certificates.js'
import { files } from './files.js'
import { indexes } from './indexes.js'
import { backups, clockOfMachine, disk } from './machine.js'
import { runningStack } from './running_stack.js'
import { schema } from './schema.js'
import { server } from './server.js'

export const AREAS: readonly Area[] = [
  {
    name: 'settings',
    look: (settings) =>
      Promise.resolve(checked([...misspelledFindings(), ...findingsOfSettings(settings)])),
  },
  { name: 'processors', look: async (settings) => checked(await findingsOfProcessors(settings)) },
  runningStack,
  files,
  certificates,
  disk,
  clockOfMachine,
  backups,
  server,
  schema,
]

/** In the environment of this command, which has to be that of the processes. */
const misspelledFindings = (): readonly Finding[] =>
  misspelledVariables().map(({ given, meant }) => ({
    finding: `${given} is set, and is not a setting: ${meant} was probably meant`,
    why: `it is ignored, and ${meant} has another value`,
    remedy: 'rename the variable, or unset it',
  }))

export const doctor: LocalCommand = {
  usage: 'doctor',
  about: 'the checklist of a production machine, with what to do; exit code 1 if anything is found',
  options: ['deep'],
  runLocally: async (paint, settings, { flags }) => {
    const given = settings()
    const seen: (readonly [string, Seen])[] = []
    const areas = flags.deep === true ? [...AREAS, indexes] : AREAS
    for (const area of areas) seen.push([area.name, await lookAt(area, given)])
    const found = seen.flatMap(([area, each]) => findingsIn(area, each))
    const unknown = seen.flatMap(([area, each]) =>
      each.kind === 'unknown' ? [{ area, reason: each.reason }] : [],
    )
    const done = seen.flatMap(([area, { kind }]) => (kind === 'checked' ? [area] : []))
    return {
      value: { checked: done, not_checked: unknown, findings: found },
      lines: [
        ...linesOf(found, (text) => paint('strong', text)),
        `Checked: ${done.join(', ')}.`,
        ...unknown.map(({ area, reason }) => `Not checked: ${area} (${reason}).`),
      ],
      exitCode: found.length === 0 ? 0 : 1,
    }
  },
}

async function lookAt(area: Area, settings: Settings): Promise<Seen> {
  try {
    return await area.look(settings, systemClock)
  } catch (error) {
    return checked([
      {
        finding: messageOf(error).replace(/\.$/, ''),
        why: 'the rest of this area is not checked',
        remedy: 'repair it, and check again',
      },
    ])
  }
}

type AreaFinding = Finding & { readonly area: string }

const findingsIn = (area: string, seen: Seen): readonly AreaFinding[] =>
  seen.kind === 'checked' ? seen.findings.map((each) => ({ area, ...each })) : []
