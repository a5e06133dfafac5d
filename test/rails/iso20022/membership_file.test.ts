/** ISO20022_FILE: a fault is a sentence with the file and the member, and no key is in it. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { projectRoot } from '../../../src/base/project_root.js'
import { readMembership, type MembershipFile } from '../../../src/rails/iso20022/membership_file.js'
import { writeTrialNetwork } from '../../../src/rails/switch/trial_network.js'
import { refuseJournalOfOther } from '../../../src/supervisor/iso20022_programs.js'
import { shortFolder } from '../harness.js'

const folder = shortFolder(t)
const now = systemClock.now()
const { adapterFile } = writeTrialNetwork(folder, { adapter: 1, switch: 2 }, now)
const given = JSON.parse(readFileSync(adapterFile, 'utf8')) as MembershipFile
const at = (name: string): string => join(folder, name)

function read(change: Partial<Record<keyof MembershipFile, unknown>>) {
  writeFileSync(at('changed.json'), JSON.stringify({ ...given, ...change }))
  return readMembership(at('changed.json'))
}

t.test('a valid file, also that of the guide', async (t) => {
  t.match(await read({}), { agent: 'CAUSEWAY', switch: 'SWITCH', environment: 'sandbox' })
  const guide = readFileSync(join(projectRoot(), 'src/rails/README.md'), 'utf8')
  const [, text = ''] = /`ISO20022_FILE`, with paths[^]*?```json\n([^]*?)```/.exec(guide) ?? []
  const { tls, signing, peer_keys_file } = given
  const shown = JSON.parse(text) as MembershipFile
  t.same(Object.keys(shown), Object.keys(given))
  t.match(await read({ ...shown, tls, signing, peer_keys_file }), { environment: 'production' })
})

t.test('keys are made once', async (t) => {
  const before = readFileSync(at('adapter.signing.pem'), 'utf8')
  writeTrialNetwork(folder, { adapter: 3, switch: 4 }, now)
  t.equal(readFileSync(at('adapter.signing.pem'), 'utf8'), before)
  t.match(readFileSync(adapterFile, 'utf8'), 'https://127.0.0.1:4/')
})

t.test('each fault names its place', async (t) => {
  const FAULTS: readonly (readonly [Parameters<typeof read>[0], RegExp])[] = [
    [{ send_to: 'http://127.0.0.1:1/' }, /\/send_to must match/],
    [{ send_to: 'https://user:secret@127.0.0.1:1/' }, /\/send_to must match/],
    [{ environment: 'test' }, /\/environment must be/],
    [{ member_id: '' }, /\/member_id must match/],
    [{ finality_window_ms: 0 }, /\/finality_window_ms must be/],
    [{ other: 1 } as object, /must NOT have additional/],
    [{ signing: { ...given.signing, algorithm: 'HS256' } }, /\/signing\/algorithm must be/],
    [{ signing: { ...given.signing, algorithm: 'RS256' } }, /signing: not a key for the algorithm/],
    [{ signing: { ...given.signing, key_file: 'none' } }, /signing\.key_file: ENOENT/],
    [{ peer_keys_file: 'adapter.json' }, /peer_keys_file: /],
  ]
  for (const [change, fault] of FAULTS) {
    await t.rejects(read(change), { message: fault }, String(fault))
    await t.rejects(read(change), { message: new RegExp(`ISO20022_FILE ${at('changed.json')}`) })
  }
  chmodSync(at('adapter.key.pem'), 0o644)
  await t.rejects(read({}), { message: /tls\.key_file: .* is accessible to others/ })
  await t.rejects(readMembership(''), { message: /must name a file/ })
})

t.test('a DATA_DIR belongs to one adapter', async (t) => {
  const data = shortFolder(t)
  const file = (name: string): string => join(data, name)
  const refuse = (RAIL_ADAPTER: 'sandbox' | 'iso20022') => (): void =>
    refuseJournalOfOther({ RAIL_ADAPTER }, { file })
  t.doesNotThrow(refuse('sandbox'))
  t.doesNotThrow(refuse('iso20022'))
  writeFileSync(file('rail.db'), '')
  t.doesNotThrow(refuse('sandbox'))
  t.throws(refuse('iso20022'), { message: /journal of the sandbox rail: set RAIL_ADAPTER=sandbox/ })
  writeFileSync(file('iso20022'), '')
  t.doesNotThrow(refuse('iso20022'))
  t.throws(refuse('sandbox'), { message: /journal of the iso20022 rail/ })
})
