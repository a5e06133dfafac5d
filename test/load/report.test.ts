/** The text report of a run. */
import t from 'tap'
import { report } from './report.js'
import { finding } from './result.js'
import { aRun, aWindow } from './sample_results.js'

t.test('a run is reported with its machine, settings, windows, findings and accounts', (t) => {
  const text = report(aRun())
  t.match(text, /bench, 2026-11-21T05:30:12/)
  t.match(text, /a processor, 2 cores.*v20/)
  t.match(text, /closed loop, 512 connections/)
  t.match(text, /service 1 +15,000 +18\.0 +40\.1 +61\.2 +199,990 +10 +90\.0 +2 %/)
  t.match(text, /service 1: 10 × 503 configuration_error/)
  t.match(text, /gateway +27\.3 +1\.0 +113/)
  t.match(text, /rate +15,000 \/s +target: at least 15,000 \/s, met/)
  t.match(text, /service \/ ceiling +0\.75 +target: at least 0\.8, NOT met/)
  t.match(text, /accepted = stored +10 +10 +adds up\n/)
  t.match(text, /Everything adds up\.$/)
  t.end()
})

t.test('a void run and a busy machine are reported', (t) => {
  const text = report(aRun({}, { voidBecause: ['creates, service 1: 3 × 503'] }))
  t.match(text, /void: these figures do not count\.\n {2}creates, service 1: 3 × 503$/)
  t.match(report(aRun({ windows: [aWindow({ elsewhere: 0.4 })] })), /not quiet/)
  t.end()
})

t.test('never, a tiny and a missing figure are shown differently', (t) => {
  const findings = [
    finding('recovered after', Infinity, 'ms'),
    finding('not completed', 1 / 1_500, '', { atMost: 0 }),
    finding('files', -1e-12, '/h'),
    finding('ratio', Number.NaN, '×', { atMost: 1.2 }),
  ]
  const text = report(aRun({ findings }))
  t.match(text, /recovered after +never$/m)
  t.match(text, /not completed +0\.0007 +target: at most 0, NOT met/)
  t.match(text, /files +-?0\.00 \/h/)
  t.match(text, /ratio +none +target: at most 1\.2 ×, NOT met/)
  t.end()
})
