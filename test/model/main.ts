/**
 * A longer run: `make lives`, with `--runs N`, `--seed S`, `--rebuilt`. Without a seed each world
 * draws its own; a failure prints the seed that tells it again.
 */
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
