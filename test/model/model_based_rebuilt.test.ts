/**
 * Intent lifecycles against the reference model with a restart before every batch, from fixed
 * seeds; `make model ARGS=--rebuilt` runs others.
 */
import t from 'tap'
import { runWorlds } from './worlds.js'

runWorlds(t, { runs: 200, rebuilt: true, seed: 20_261_101, within: 12_000 })
