/** What a processor tells about itself: its own `/readyz`, and its supervisor. */
import t from 'tap'
import { readinessOf, readyInfo, type ReadinessSources } from '../../src/processor/readiness.js'
import { createWorld, RULES } from '../support/world.js'

t.test('the supervisor gets every link that is down, with its reason', async (t) => {
  const world = await createWorld(t)
  const rails = new Map<string, string | null>([
    ['bank_a', null],
    ['bank_b', 'certificate has expired'],
  ])
  const links = {
    bus: 'up' as 'up' | 'down',
    refusal: null as string | null,
    screening: null as string | null,
    sync: null as string | null,
    damage: null as string | null,
  }
  const sources: ReadinessSources = {
    books: {
      synchrony: () => ({ fault: links.sync, standbys: null }),
      damage: () => links.damage,
    },
    member: undefined,
    recovery: { state: () => ({ mode: 'normal' }) },
    memory: world.memory(),
    rules: RULES,
    bus: { status: () => links.bus, refusal: () => links.refusal },
    rail: { faults: () => rails },
    screening: { fault: () => links.screening },
    disk: { isLow: () => false },
    openWork: { unnamedRails: () => new Map() },
    isServing: () => true,
    gateways: () => 1,
  }
  const told = (): unknown => readyInfo(1, sources)['degraded']
  t.equal(told(), 'the link to the rail bank_b is down: certificate has expired')
  t.match(readinessOf(sources), { rail: 'down', rail_fault: 'bank_b: certificate has expired' })
  t.notOk('degraded' in readinessOf(sources), 'its own page has a member for each link')
  rails.set('bank_b', null)
  t.equal(told(), undefined)
  links.bus = 'down'
  t.match(told(), /^the bus is down/)
  links.bus = 'up'
  links.refusal = 'maximum messages exceeded'
  t.equal(told(), 'the bus refuses events: maximum messages exceeded')
  t.match(readinessOf(sources), { bus: 'up', degraded: told() })
  links.refusal = null
  links.screening = 'UNAVAILABLE'
  t.equal(told(), 'screening does not answer: UNAVAILABLE')
  links.sync = 'commits wait for no standby'
  t.equal(told(), 'screening does not answer: UNAVAILABLE; commits wait for no standby')
  links.screening = links.sync = null
  links.damage = 'processor.db is damaged'
  t.equal(told(), 'processor.db is damaged')
})
