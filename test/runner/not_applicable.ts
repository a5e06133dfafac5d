/**
 * The start of the reason of a test that only SQLite has a subject for. On PostgreSQL it is not
 * skipped: there is nothing that it could check.
 */
export const SQLITE_ONLY_REASON = 'SQLite only: '
