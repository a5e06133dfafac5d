/**
 * Loaded before a program (`--import skewed_clock.js?ms=…`): its clock differs from the machine's.
 * The program itself knows nothing of it.
 */
const skew = Number(new URL(import.meta.url).searchParams.get('ms'))
const machine = Date.now.bind(Date)

Date.now = () => machine() + skew
