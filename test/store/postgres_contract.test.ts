/** The store on PostgreSQL keeps the contract, on a server of its own. */
import t from 'tap'
import { requirePostgres, startPostgres } from '../support/postgres_server.js'
import { testContract } from './contract.js'
import { openBooksOfTheRun } from './contract_books.js'

requirePostgres(t)

process.env['TEST_STORE_URL'] = (await startPostgres(t)).url
testContract(openBooksOfTheRun)
