import t from 'tap'
import { pageOf } from './page.js'
import { report } from './report.js'
import { aRun, aSection, aWindow } from './results.js'
import { finding } from './result.js'

t.test('a run is told with its machine, its settings, its windows and its findings', (t) => {
  const text = report(aRun())
  t.match(text, /bench, 2026-11-21T05:30:12/)
  t.match(text, /a processor, 2 cores.*v20\.20\.2/)
  t.match(text, /closed loop, 512 in flight/)
  t.match(text, /service 1 +15,000 +18\.0 +40\.1 +61\.2 +199,990 +10 +90\.0 +2 %/)
  t.match(text, /service 1: 10 × 503 configuration_error/)
  t.match(text, /gateway +0\.0 +0\.0 +27\.3 +1\.0 +113/)
  t.match(text, /rate +15,000 \/s +target: at least 15,000 \/s, met/)
  t.match(text, /service \/ ceiling +0\.75 +target: at least 0\.8, NOT met/)
  t.match(text, /accepted = there +10 +10 +adds up\n/)
  t.match(text, /Everything adds up\.$/)
  t.end()
})

t.test('a void run says so and why', (t) => {
  const text = report(aRun({ voidBecause: ['creates, service 1: 3 × 503'] }))
  t.match(text, /void: these figures mean nothing\.\n {2}creates, service 1: 3 × 503$/)
  t.end()
})

t.test('a busy machine is told', (t) => {
  const busy = aSection({ windows: [aWindow({ elsewhere: 0.4 })] })
  t.match(report(aRun({ sections: [busy] })), /not quiet/)
  t.end()
})

t.test('what never happened is told as never', (t) => {
  const section = aSection({ findings: [finding('recovered after', Infinity, 'ms')] })
  t.match(report(aRun({ sections: [section] })), /recovered after +never$/m)
  t.end()
})

t.test('a trace is not told as nothing, nor a figure that is missing as one', (t) => {
  const findings = [
    finding('not completed', 1 / 1_500, '', { atMost: 0 }),
    finding('files', -1e-12, '/h'),
    finding('ratio', Number.NaN, '×', { atMost: 1.2 }),
  ]
  const text = report(aRun({ sections: [aSection({ findings })] }))
  t.match(text, /not completed +0\.0007 +target: at most 0, NOT met/)
  t.match(text, /files +-?0\.00 \/h/)
  t.match(text, /ratio +none +target: at most 1\.2 ×, NOT met/)
  t.end()
})

t.test('the page tells, too, that the machine was not quiet', (t) => {
  const busy = aSection({ windows: [aWindow({ elsewhere: 0.4 })] })
  t.match(pageOf(aRun({ sections: [busy] })), /not quiet/)
  t.notMatch(pageOf(aRun()), /not quiet/)
  t.end()
})

t.test('several processes of a kind share its colour and differ in their shade', (t) => {
  const both = { 'gateway-1': 0.5, 'gateway-2': 0.25 }
  const [sample] = aWindow().samples
  if (sample === undefined) throw new Error('a window has samples')
  const samples = [{ ...sample, cpu: both, rssMiB: both, handles: both }]
  const page = pageOf(aRun({ sections: [aSection({ windows: [aWindow({ samples })] })] }))
  const [first, second] = [1, 2].map(
    (number) => new RegExp(`style="--c:(.*?)"></i>gateway-${number}`).exec(page)?.[1],
  )
  t.match(first, /var\(--c1\);opacity:1/)
  t.match(second, /var\(--c1\);opacity:0\.6/)
  t.end()
})

t.test('the page is one file: it holds its plots and asks the network for nothing', (t) => {
  const page = pageOf(aRun({ voidBecause: ['<b> & "more"'] }))
  t.notMatch(page, /https?:|src=|url\(|@import/)
  t.equal(page.match(/<svg /g)?.length, page.match(/<\/svg>/g)?.length)
  for (const title of ['Throughput', 'Latency by share', 'Commit group size', 'CPU by process']) {
    t.match(page, `<figcaption>${title}`)
  }
  t.match(page, '&lt;b> &amp; &quot;more&quot;')
  t.notMatch(page, /NaN|undefined|Infinity/)
  t.end()
})

t.test('several sections have an overview, many are folded', (t) => {
  const one = pageOf(aRun())
  t.notMatch(one, '<table class="overview">')
  const several = pageOf(aRun({ sections: [aSection(), aSection()] }))
  t.match(several, '<a href="#s1">creates</a>')
  t.match(several, /<h2 id="s1">/)
  t.match(several, /class="missed"><td>.*<td>service \/ ceiling<\/td><td>0\.75<\/td>/)
  t.notMatch(several, '<details>')
  const many = pageOf(aRun({ sections: Array.from({ length: 12 }, () => aSection()) }))
  t.equal(many.match(/<details>/g)?.length, 12)
  t.end()
})

t.test('a section in which nothing was completed has a page, too', (t) => {
  const nothing = aWindow({ intervalSamples: [], samples: [], curve: [] })
  const page = pageOf(aRun({ sections: [aSection({ windows: [nothing] })] }))
  t.notMatch(page, /NaN|undefined|Infinity/)
  t.end()
})
