import express from 'express'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { listen } from '../../../src/platform/base/listen.ts'
import { createProblemHandler } from '../../../src/platform/base/problem-handler.ts'
import { assignRequestId } from '../../../src/platform/base/request-id.ts'
import { limitTime } from '../../../src/platform/management/time-limit.ts'
import { BASE_URL, problemIn } from '../../support/management.ts'

it('answers for an operation that takes too long, and outlives its late answer', async () => {
  const listening = await listen('127.0.0.1', 0)
  onTestFinished(() => listening.close(0))
  let finish = (): void => undefined
  const app = express()
  app.use(assignRequestId, limitTime(20))
  app.get('/slow', async (_request, response) => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    response.json({})
  })
  app.get('/fast', (_request, response) => void response.json({}))
  listening.answer(app.use(createProblemHandler({ baseUrl: BASE_URL, log: silentLog })))
  const url = `http://127.0.0.1:${listening.port}`
  const problem = await problemIn(await fetch(`${url}/slow`))
  expect(problem).toMatchObject({ status: 500, title: 'Unknown Error', detail: 'The operation took too long.' })
  finish()
  expect((await fetch(`${url}/fast`)).status).toBe(200)
})
