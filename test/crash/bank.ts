/**
 * Edits the sandbox rail's journal to states that its rules never produce: a payment without its
 * execution, whose recall the rail refuses.
 */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'

export interface Bank {
  hideExecution(id: string): Promise<void>
  restoreExecution(id: string): Promise<void>
  close(): Promise<void>
}

export async function openBank(dataDir: string): Promise<Bank> {
  const books = await openDatabase(join(dataDir, FILES.railDatabase))
  const transactions = new Map<string, string>()
  return {
    hideExecution: async (id) => {
      const [row] = await books.all<{ transaction_id: string }>(
        `SELECT transaction_id FROM instructions WHERE id = ? AND state = 'executed'`,
        [id],
      )
      transactions.set(id, row?.transaction_id ?? '')
      await books.run(
        `UPDATE instructions SET state = 'pending', executions = 0, transaction_id = NULL
         WHERE id = ?`,
        [id],
      )
    },
    restoreExecution: async (id) => {
      await books.run(
        `UPDATE instructions SET state = 'executed', executions = 1, transaction_id = ?
         WHERE id = ?`,
        [transactions.get(id) ?? '', id],
      )
    },
    close: () => books.close(),
  }
}
