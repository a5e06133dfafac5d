/**
 * A longer model-based run: `make model`, with `--runs N`, `--seed S`, `--rebuilt`. Without a seed
 * each world uses a random one; a failure prints its seed.
 */
import t from 'tap'
import { programOptions } from '../../src/base/program_options.js'
import { runWorlds } from './worlds.js'

const values = programOptions('model', 'Random intents against the reference model.', {
  runs: { value: 'N', about: 'random sequences', kind: 'number', fallback: 5_000 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
  rebuilt: { about: 'actors are rebuilt from disk before each command' },
})

runWorlds(t, {
  runs: values.runs,
  rebuilt: values.rebuilt,
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
})
