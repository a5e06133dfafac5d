/**
 * Loaded before a program (`--import`): its clock differs from the machine's by TEST_CLOCK_SKEW_MS.
 * The program itself knows nothing of it.
 */
const skew = Number(process.env['TEST_CLOCK_SKEW_MS'])
const machine = Date.now.bind(Date)

Date.now = () => machine() + skew
