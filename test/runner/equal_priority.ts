/**
 * Loaded into every process of a test run: a backup and a check of database files give way to no
 * other process. Beside the other jobs of the run they would hardly proceed, and the load that
 * their tests make meanwhile would go on for minutes.
 */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

os.setPriority = () => undefined
syncBuiltinESMExports()
