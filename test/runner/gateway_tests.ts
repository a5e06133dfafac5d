/**
 * Which test files need uWebSockets.js: those that import it or start a process that does. It is a
 * binary for some versions of Node only; `make test-node` leaves these files out where it does not
 * load.
 */
import { readFileSync } from 'node:fs'
import { importedBy } from './store_tests.js'

/** The import, and the programs that start a gateway; a path can be in parts. */
const SIGNS =
  /'uWebSockets\.js'|(?:gateway|supervisor|cluster|load)(?:\/|', ')main\.js|operations\/demo\.js/
/** They start one by a path of their own. */
const STARTERS = /\/test\/(?:gateway\/scarce_connections|fuzz\/gateway)\.test\.js$/
/** They name the programs, and start none. */
const NAMES_ONLY = [
  /\/src\/supervisor\/child_variables\.js$/,
  /\/test\/(?:runner|deploy)\/[\w.]+\.js$/,
  /\/test\/house_rules\/\w+\.test\.js$/,
]

const known = new Map<string, boolean>()

/** @param name of a test file: its path without `.test.js` */
export const needsGateway = (name: string): boolean => [...importedBy(name)].some(hasSign)

function hasSign(file: string): boolean {
  const found = known.get(file) ?? (STARTERS.test(file) || (!namesOnly(file) && isSigned(file)))
  known.set(file, found)
  return found
}

const namesOnly = (file: string): boolean => NAMES_ONLY.some((pattern) => pattern.test(file))

const isSigned = (file: string): boolean => SIGNS.test(readFileSync(file, 'utf8'))
