/**
 * Lives of intents against the reference model, every group after a restart; always the same ones,
 * `make lives ARGS=--rebuilt` tells others.
 */
import t from 'tap'
import { tellVolumes } from './volumes.js'

tellVolumes(t, { runs: 200, rebuilt: true, seed: 20_261_101, within: 12_000 })
