import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Response, Router } from 'express'
import { WorkloadError } from '../../base/errors.ts'
import { problemOf } from '../../base/problem.ts'
import type { JobView } from '../../jobs/job.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { answerPieces } from '../answer-pieces.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { sendJson } from '../problem-handler.ts'
import { requestIdOf } from '../request-id.ts'

/** `/jobs`: what became of prompts, their outputs as bytes, and a way to stop them. */
export function jobsRoute(jobs: Jobs): Router {
  const router = Router()
  const sendRecord = (response: Response, { record, head, error, files }: JobView): void => {
    if (record.status === 'pending' || record.status === 'running') response.set('retry-after', '1')
    const outputs = files.map((_, i) => `/jobs/${record.id}/outputs/${i}`)
    sendJson(response, {
      ...record,
      ...head,
      ...(outputs.length > 0 && { outputs }),
      ...(error && { error: problemOf(error, requestIdOf(response)) }),
    })
  }
  router
    .route('/jobs')
    .get(async (_request, response) => sendJson(response, { jobs: await jobs.list() }))
    .all(methodNotAllowed('GET', 'HEAD'))
  router
    .route('/jobs/:id')
    .get(({ params: { id }, query }, response) =>
      jobs.read(id, async (view) => {
        const { record, answer } = view
        if (query.result === 'false') return sendRecord(response, { ...view, head: undefined })
        if (!answer) return sendRecord(response, view)
        await pipeline(answerPieces({ ...answer, head: { ...record, ...answer.head } }), response.type('json'))
      }),
    )
    .delete(async ({ params: { id } }, response) => {
      if (await jobs.cancel(id)) response.status(202)
      sendRecord(response, { ...(await jobs.view(id)), head: undefined })
    })
    .all(methodNotAllowed('GET', 'HEAD', 'DELETE'))
  router
    .route('/jobs/:id/redeliver')
    .post(async ({ params: { id } }, response) => {
      await jobs.redeliver(id)
      sendRecord(response.status(202), { ...(await jobs.view(id)), head: undefined })
    })
    .all(methodNotAllowed('POST'))
  router
    .route('/jobs/:id/outputs/:index')
    .get(({ params: { id, index } }, response) =>
      jobs.read(id, async ({ files }) => {
        const file = /^\d+$/.test(index) ? files[Number(index)] : undefined
        if (!file) throw new WorkloadError('not-found', `the job ${id} has no output ${index} that can be read here`)
        response.type(file.mime).attachment(file.filename.split('/').at(-1))
        await new Promise<void>((done, fail) =>
          response.sendFile(resolve(file.path), { dotfiles: 'allow' }, (error) => (error ? fail(error) : done())),
        )
      }),
    )
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
