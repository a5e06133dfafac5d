/** The store on PostgreSQL keeps the contract, on a server of its own. */
import t from 'tap'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { testContract } from './contract.js'
import { openBooksOfTheRun } from './contract_books.js'

if (noPostgres !== false) {
  t.pass(noPostgres)
  process.exit()
}

process.env['TEST_STORE_URL'] = (await startPostgres(t)).url
testContract(openBooksOfTheRun)
