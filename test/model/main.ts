/**
 * A longer model-based run: `make lives`, with `--runs N`, `--seed S`, `--rebuilt`. Without a seed
 * each world uses a random one; a failure prints the seed that repeats it.
 */
import t from 'tap'
import { programOptions } from '../../src/base/program_options.js'
import { tellVolumes } from './volumes.js'

const values = programOptions('model', 'Drawn intents against the reference model.', {
  runs: { value: 'N', about: 'drawn sequences', kind: 'number', fallback: 5_000 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
  rebuilt: { about: 'actors are rebuilt from disk before each command' },
})

tellVolumes(t, {
  runs: values.runs,
  rebuilt: values.rebuilt,
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
})
