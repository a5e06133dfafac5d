/** The kind of a process: the name of one of several ends with its number. */
export const kindOf = (name: string): string => name.replace(/-\d+$/, '')
