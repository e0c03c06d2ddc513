import { randomUUID } from 'node:crypto'
import type { Job } from 'bullmq'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { BullPlace, BullPlaces } from './bull-places.ts'
import type { Dispatch, Hold } from './dispatch.ts'

export interface BullDispatchOptions {
  readonly places: BullPlaces
  /** The most attempts of a job. */
  readonly attempts: number
  /** After a hand-out and after each renewal, for so long nobody else has the job. */
  readonly leaseMs: number
  readonly renewMs: number
  readonly log: Log
}

/** Hands out by BullMQ; its jobs carry nothing but their ids. */
export function createBullDispatch({ places, attempts, leaseMs, renewMs, log }: BullDispatchOptions): Dispatch {
  const options = { attempts, removeOnComplete: true, removeOnFail: true }

  function holdOf({ worker }: BullPlace, job: Job, token: string): Hold {
    const id = job.id ?? '' // a stored job has one
    const renew = async (): Promise<void> => {
      try {
        if ((await worker.getBackend().extendLock(id, token, leaseMs)) !== 1) clearInterval(renewal)
      } catch (error) {
        log.debug({ id, reason: messageOf(error) }, 'a lease was not renewed')
      }
    }
    const renewal = setInterval(() => void renew(), renewMs)
    const settle = async (work: () => Promise<unknown>): Promise<void> => {
      clearInterval(renewal)
      try {
        await work()
      } catch (error) {
        // Another has it, its queue is gone, or the database is: the record says what is to become of it.
        log.debug({ id, reason: messageOf(error) }, 'a hand-out ended unnoticed')
      }
    }
    return {
      id,
      again: () => settle(() => job.moveToFailed(new Error('the attempt failed'), token)),
      done: () => settle(() => worker.getBackend().moveToCompleted(job, null, true, token, false)),
      drop: () => clearInterval(renewal),
    }
  }

  const drop = async (place: string): Promise<void> => {
    await places.open(place).queue.obliterate({ force: true })
    await places.forget(place)
  }
  return {
    async add(place, ids) {
      const { queue } = places.open(place)
      await queue.addBulk(ids.map((jobId) => ({ name: 'job', data: null, opts: { ...options, jobId } })))
    },
    async remove(place, id) {
      await places.open(place).queue.remove(id)
    },
    drop,
    async take(name) {
      const place = places.open(name)
      const token = randomUUID()
      const job = await place.worker.getNextJob(token, { block: false })
      return job && holdOf(place, job as Job, token)
    },
    recover: (place) => places.open(place).worker.getBackend().moveStalledJobsToWait(),
    count: (place) => places.open(place).queue.getJobCountByTypes('waiting', 'active'),
    async release(place) {
      if ((await places.open(place).queue.getActiveCount()) > 0) await drop(place)
    },
    isWaiting: (place, id) => places.open(place).queue.getBackend().isJobInState('wait', id),
    close: () => places.close(),
  }
}
