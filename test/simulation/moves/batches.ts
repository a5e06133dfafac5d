/**
 * The pipeline of a simulated processor: items that have arrived are decided in batches, one after
 * the other. As the product's, it can be held between two batches.
 */
import assert from 'node:assert/strict'
import type { Release } from '../../../src/processor/cycle/pipeline.js'

export interface Batches<Item> {
  submit(item: Item): void
  /** Runs it between two batches. */
  between(job: () => Promise<void>): void
  /** Resolves when the items that were submitted before are done; later ones wait. */
  hold(): Promise<Release>
  /** Resolves when nothing is left to do, also of what has waited. */
  idle(): Promise<void>
}

export interface BatchesOptions<Item> {
  readonly decide: (batch: readonly Item[]) => Promise<void>
  readonly isAlive: () => boolean
  readonly onFailure: (error: unknown) => void
}

export function createBatches<Item>(options: BatchesOptions<Item>): Batches<Item> {
  const { decide, isAlive, onFailure } = options
  let queue: Item[] = []
  const jobs: (() => Promise<void>)[] = []
  let isBusy = false
  let held: Item[] | null = null
  let released: Promise<void> = Promise.resolve()
  let waiters: (() => void)[] = []

  const hasWork = (): boolean => queue.length > 0 || jobs.length > 0
  const work = async (): Promise<void> => {
    while (isAlive() && hasWork()) {
      const job = jobs.shift()
      if (job !== undefined) {
        await job()
        continue
      }
      const batch = queue
      queue = []
      await decide(batch)
    }
  }
  const pump = (): void => {
    if (isBusy || !isAlive()) return
    isBusy = true
    work().then(() => {
      isBusy = false
      if (hasWork()) return pump()
      const idle = waiters
      waiters = []
      for (const resolve of idle) resolve()
    }, onFailure)
  }
  const untilIdle = (): Promise<void> =>
    isBusy || hasWork() ? new Promise((resolve) => void waiters.push(resolve)) : Promise.resolve()

  return {
    submit: (item) => {
      if (held !== null) return void held.push(item)
      queue.push(item)
      pump()
    },
    between: (job) => {
      jobs.push(job)
      pump()
    },
    hold: async () => {
      assert(held === null, 'the pipeline is held once')
      const waiting: Item[] = []
      held = waiting
      let resolve = (): void => undefined
      released = new Promise((done) => (resolve = done))
      await untilIdle()
      return () => {
        held = null
        queue.push(...waiting)
        resolve()
        pump()
      }
    },
    idle: async () => {
      await released
      await untilIdle()
    },
  }
}
