/** A longer run: `node .build/test/model/main.js --runs N --seed S [--rebuilt]`. */
import { parseArgs } from 'node:util'
import t from 'tap'
import { tellVolumes } from './volumes.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    seed: { type: 'string' },
    rebuilt: { type: 'boolean', default: false },
  },
})

tellVolumes(t, {
  runs: Number(values.runs),
  rebuilt: values.rebuilt,
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
})
