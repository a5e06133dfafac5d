/** A part of undici: the whole has a browser's fetch, caches and mocks, five times as much code. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
