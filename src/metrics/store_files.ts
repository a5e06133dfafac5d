/** The sizes of a SQLite file and its write-ahead log, and its disk, read at each scrape. */
import { stat } from 'node:fs/promises'
import { freeBytesOf } from '../files/free_space.js'
import type { Metrics } from './metrics.js'

export function reportStoreFile(metrics: Metrics, file: string): void {
  metrics.read('causeway_store_file_bytes', () => sizeOf(file))
  metrics.read('causeway_store_wal_bytes', () => sizeOf(`${file}-wal`))
}

/** A process that reserves space reports what it compares instead. */
export function reportFreeSpace(metrics: Metrics, folder: string): void {
  metrics.read('causeway_disk_free_bytes', () => freeBytesOf(folder))
}

/** 0 means that there is no such file, as after a clean stop. */
const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )
