/**
 * Lives of intents against the reference model, every group after a restart. A failure prints its
 * seed S: `node .build/test/model/main.js --rebuilt --seed S` tells it again.
 */
import t from 'tap'
import { tellVolumes } from './volumes.js'

tellVolumes(t, { runs: 200, rebuilt: true, within: 12_000 })
