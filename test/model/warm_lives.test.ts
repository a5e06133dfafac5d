/**
 * Lives of intents against the reference model, with the actors kept in memory. A failure prints
 * its seed S: `node .build/test/model/main.js --seed S` tells it again.
 */
import t from 'tap'
import { tellVolumes } from './volumes.js'

tellVolumes(t, { runs: 1_600, rebuilt: false, within: 20_000 })
