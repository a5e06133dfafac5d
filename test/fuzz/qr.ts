/** Fuzzes the QR reader: `node .build/test/fuzz/qr.js --seconds 600` (see attack.ts). */
import { fuzz } from './attack.js'
import { attackQr } from './qr_attack.js'

await fuzz('qr', 'Reads corrupted QR payloads.', ({ forMs, ...options }) => {
  const until = performance.now() + forMs
  return attackQr({ ...options, goesOn: () => performance.now() < until })
})
