/**
 * Lives of intents against the reference model, with the actors kept in memory; always the same
 * ones, `make lives` tells others.
 */
import t from 'tap'
import { tellVolumes } from './volumes.js'

tellVolumes(t, { runs: 1_600, rebuilt: false, seed: 20_261_101, within: 20_000 })
