import t from 'tap'
import { sampleOf } from './counters.js'

const EXPOSITION = `# HELP causeway_commits_total Groups committed, one fsync each
# TYPE causeway_commits_total counter
causeway_commits_total{process="processor"} 17
causeway_commits_total_more 3
plain 4.5
`

t.equal(sampleOf(EXPOSITION, 'causeway_commits_total'), 17)
t.equal(sampleOf(EXPOSITION, 'plain'), 4.5)
t.throws(() => sampleOf(EXPOSITION, 'causeway_commits'), /no metric causeway_commits/)
