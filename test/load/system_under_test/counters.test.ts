import t from 'tap'
import { sampleOf } from './counters.js'

const METRICS_CONTENT_TYPE = `# HELP causeway_commits_total Batches committed, one fsync each
# TYPE causeway_commits_total counter
causeway_commits_total{process="processor"} 17
causeway_commits_total_more 3
plain 4.5
`

t.equal(sampleOf(METRICS_CONTENT_TYPE, 'causeway_commits_total'), 17)
t.equal(sampleOf(METRICS_CONTENT_TYPE, 'plain'), 4.5)
t.throws(() => sampleOf(METRICS_CONTENT_TYPE, 'causeway_commits'), /no metric causeway_commits/)
