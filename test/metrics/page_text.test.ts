/** Metrics of several processes on one page. */
import t from 'tap'
import { mergePages } from '../../src/metrics/page_text.js'

const gateway = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{route="a b"} 2

# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1"} 3
wait_seconds_count 3
`
const processor = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total 5
`

t.test('a family has one header and the samples of all processes', async (t) => {
  const page = mergePages(
    new Map([
      ['gateway', gateway],
      ['processor', processor],
    ]),
  )
  t.equal(
    page,
    `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{route="a b",process="gateway"} 2
requests_total{process="processor"} 5
# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1",process="gateway"} 3
wait_seconds_count{process="gateway"} 3
`,
  )
})

t.test('a sample that names its process keeps it', async (t) => {
  const page = mergePages(
    new Map([['supervisor', '# TYPE up gauge\nup{process="rail"} 1\nup{sub_process="x"} 1']]),
  )
  t.match(page, 'up{process="rail"} 1\n')
  t.match(page, 'up{sub_process="x",process="supervisor"} 1\n')
})

t.test('a process without metrics adds nothing', async (t) => {
  t.equal(mergePages(new Map([['rail', '']])), '')
})
