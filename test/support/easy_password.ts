/** The password of a test's server with one iteration of SCRAM (RFC 5802) in place of 4,096. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'

const ITERATIONS = 1

/** A run connects some ten thousand times, and each time both ends would compute them. */
export async function easePassword(url: string): Promise<void> {
  const targets = parseStoreUrl(url)
  const [{ user = '', password = '' }] = targets as [(typeof targets)[number]]
  const connection = await connectToPrimary(targets, 'pg_catalog', 'test')
  await connection.exec(`ALTER ROLE ${user} PASSWORD '${verifierOf(password)}'`)
  await connection.close()
}

/** What the server keeps. */
function verifierOf(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  const server = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
