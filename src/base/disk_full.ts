/**
 * Errors of a full disk: those of a file descriptor and of SQLite name no file. The text has the
 * file and what to do.
 */
const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL']

export const isDiskFull = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && CODES.includes((error as { code?: string }).code)

export const diskFullText = (file: string, { message }: Error): string =>
  `${file} cannot be written (${message}): free space on its disk.`

/** The same error, which names the file if the disk is full. */
export function withFileName(error: unknown, file: string): unknown {
  if (isDiskFull(error)) error.message = diskFullText(file, error)
  return error
}
