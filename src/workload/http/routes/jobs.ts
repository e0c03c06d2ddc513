import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Response, Router } from 'express'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/create-jobs.ts'
import { answerPieces } from '../answer-pieces.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { problemOf, sendJson } from '../problem-handler.ts'
import { requestIdOf } from '../request-id.ts'

/** `/jobs`: what became of prompts, their outputs as bytes, and a way to stop them. */
export function jobsRoute(jobs: Jobs): Router {
  const router = Router()
  const sendRecord = (response: Response, id: string): void => {
    const { record, error } = jobs.view(id)
    if (record.status === 'pending' || record.status === 'running') response.set('retry-after', '1')
    sendJson(response, error ? { ...record, error: problemOf(error, requestIdOf(response)) } : record)
  }
  router
    .route('/jobs')
    .get((_request, response) => sendJson(response, { jobs: jobs.list() }))
    .all(methodNotAllowed('GET', 'HEAD'))
  router
    .route('/jobs/:id')
    .get(async ({ params: { id }, query }, response) => {
      const { record, answer } = jobs.view(id)
      if (!answer || query.result === 'false') return sendRecord(response, id)
      await jobs.read(id, ({ head, ...files }) =>
        pipeline(answerPieces({ head: { ...record, ...head }, ...files }), response.type('json')),
      )
    })
    .delete(({ params: { id } }, response) => {
      if (jobs.cancel(id)) response.status(202)
      sendRecord(response, id)
    })
    .all(methodNotAllowed('GET', 'HEAD', 'DELETE'))
  router
    .route('/jobs/:id/outputs/:index')
    .get(({ params: { id, index } }, response) =>
      jobs.read(id, async ({ files }) => {
        const file = /^\d+$/.test(index) ? files[Number(index)] : undefined
        if (!file) throw new WorkloadError('not-found', `the job ${id} has no output ${index}`)
        response.type(file.mime).attachment(file.filename.split('/').at(-1))
        await new Promise<void>((done, fail) =>
          response.sendFile(resolve(file.path), { dotfiles: 'allow' }, (error) => (error ? fail(error) : done())),
        )
      }),
    )
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
