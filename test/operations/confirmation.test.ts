/** The question before a command that cannot be taken back. */
import { PassThrough } from 'node:stream'
import t from 'tap'
import { CommandFault } from '../../src/operations/cli/command.js'
import { confirmed } from '../../src/operations/cli/confirmation.js'
import type { Flags } from '../../src/operations/cli/options.js'

interface Asked {
  readonly failure: unknown
  readonly out: string
  readonly err: string
}

/** @param typed by a person; undefined means that there is no terminal, null that the input ends */
async function ask(flags: Flags, typed?: string | null): Promise<Asked> {
  const [out, err, terminal] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const output = { out, err, ...(typed === undefined ? {} : { terminal }) }
  const done = confirmed(['45 lines'], 'Release?', flags, output)
  if (typed === null) terminal.end()
  else if (typed !== undefined) terminal.write(`${typed}\n`)
  const failure = await done.then(
    () => null,
    (error: unknown) => error,
  )
  const text = (stream: PassThrough): string => String(stream.read() ?? '')
  return { failure, out: text(out), err: text(err) }
}

t.test('a person answers yes, or nothing is done', async (t) => {
  t.match(await ask({}, 'yes'), { failure: null, out: /^45 lines\nRelease\? \[yes\/no\] / })
  for (const typed of ['no', 'y', '', null]) {
    const { failure } = await ask({}, typed)
    t.match(failure, { message: 'Nothing was changed.' }, String(typed))
    t.notOk(failure instanceof CommandFault)
  }
})

t.test('a script confirms with --yes', async (t) => {
  t.same(await ask({ yes: true }), { failure: null, out: '45 lines\n', err: '' })
  const { failure, out } = await ask({})
  t.equal(out, '45 lines\n')
  t.ok(failure instanceof CommandFault)
  t.match(failure, { message: 'Release? Nothing was changed: confirm with --yes.' })
})

t.test('with --json the standard output has no other text', async (t) => {
  t.same(await ask({ yes: true, json: true }), { failure: null, out: '', err: '45 lines\n' })
})
