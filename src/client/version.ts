/** The version of this package, as in its package.json. */
export const VERSION = '1.1.0'
