/**
 * Intent lifecycles against the reference model with a restart before every batch, from fixed
 * seeds; `make lives ARGS=--rebuilt` runs others.
 */
import t from 'tap'
import { tellVolumes } from './volumes.js'

tellVolumes(t, { runs: 200, rebuilt: true, seed: 20_261_101, within: 12_000 })
