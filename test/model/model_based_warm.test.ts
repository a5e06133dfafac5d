/**
 * Intent lifecycles against the reference model with actors kept in memory, from fixed seeds;
 * `make model` runs others.
 */
import t from 'tap'
import { runWorlds } from './worlds.js'

runWorlds(t, { runs: 1_600, rebuilt: false, seed: 20_261_101, within: 20_000 })
