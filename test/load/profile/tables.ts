/**
 * A profile as tables to read.
 *
 * Owns: columns and units. Does not own: the figures (journey_profile).
 */
import { sumOf, type Cost, type JourneyProfile, type ProcessProfile } from './journey_profile.js'
import { OTHER } from './stages.js'

const FUNCTIONS_SHOWN = 15
const OTHERS_SHOWN = 5
const NAME_WIDTH = 36

export function profileLines(profile: JourneyProfile): string[] {
  const { processes, unrecorded } = profile
  const totals = [
    ...processes.map(({ name, stages, threads }) => ({
      what: name,
      micros: sumOf(stages) + sumOf(threads),
    })),
    ...Object.entries(unrecorded).map(([what, micros]) => ({ what, micros })),
  ]
  return [
    ...table('CPU of a journey', totals, sumOf(totals)),
    ...processes.flatMap((one) => ['', ...processLines(one)]),
    '',
    `  ${profile.journeys.toLocaleString('en-US')} journeys, ` +
      `a sample every ${profile.everyMicros} µs`,
  ]
}

function processLines(one: ProcessProfile): string[] {
  const { name, stages, threads, functions } = one
  const main = sumOf(stages)
  const unknown = functions.filter(({ stage }) => stage === OTHER)
  return [
    ...table(`${name}, main thread`, stages, main),
    `    idle ${percent(one.idleShare)} and unseen ${percent(one.unseenShare)} of the window`,
    ...table(`${name}, other threads`, threads, main + sumOf(threads)),
    `    taking the samples took another ${one.samplesMicros.toFixed(1)} µs`,
    `  ${name}, functions`,
    ...functions.slice(0, FUNCTIONS_SHOWN).map((each) => functionLine(each, main)),
    ...(unknown.length === 0 ? [] : [`  ${name}, largest of what no stage has`]),
    ...unknown.slice(0, OTHERS_SHOWN).map((each) => functionLine(each, main)),
  ]
}

/** @param whole what 100 % are */
function table(title: string, costs: readonly Cost[], whole: number): string[] {
  const columns = `${'µs a journey'.padStart(14)}${'share'.padStart(9)}`
  const line = ({ what, micros }: Cost): string => {
    const share = percent(micros / whole).padStart(9)
    return `    ${what.padEnd(NAME_WIDTH - 2)}${shown(micros)}${share}`
  }
  const all = { what: 'all', micros: sumOf(costs) }
  return [`  ${title.padEnd(NAME_WIDTH)}${columns}`, ...[...costs, all].map(line)]
}

function functionLine(
  { what, micros, place, stage }: ProcessProfile['functions'][number],
  whole: number,
): string {
  const file = place === '' ? '(no file)' : place.replace(/^node_modules\//, '')
  return `  ${shown(micros)}${percent(micros / whole).padStart(9)}  ${what} ${file} [${stage}]`
}

const shown = (micros: number): string => micros.toFixed(1).padStart(14)

const percent = (share: number): string =>
  Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : ''
