import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { promptAnswerSchema } from '../../../src/contracts/prompt.ts'
import { node, picture, saving, slow } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ MAX_BODY_SIZE_MB: '2', JOB_RETENTION_S: '0' })
})
afterAll(async () => void (await server.stop()))

const answerTo = async (body: unknown) => promptAnswerSchema.parse(await (await server.post(body)).json())
const faultOf = async (body: unknown) => {
  const response = await server.post(body)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('POST /prompt answers', () => {
  it('with the images in base64, their names and the prompt as it ran, and leaves no file behind', async () => {
    const response = await server.post({ prompt: saving(picture({ rows: 2 })), id: 'mine' })
    expect(response.status).toBe(200)
    const { id, images, filenames, prompt, warnings } = promptAnswerSchema.parse(await response.json())
    expect({ id, filenames, warnings }).toEqual({
      id: 'mine',
      filenames: ['mine_test_00001_.png', 'mine_test_00002_.png'],
      warnings: undefined,
    })
    expect(prompt.out!.inputs.filename_prefix).toBe('mine_test')
    for (const image of images)
      expect(await sharp(Buffer.from(image, 'base64')).metadata()).toMatchObject({ format: 'png', width: 16 })
    await expect.poll(server.spooled).toEqual([])
  })

  it('with where the time went', async () => {
    const { stats } = await answerTo({ prompt: saving(slow(5, 10)) })
    const { comfy_execution, ...times } = stats
    expect(comfy_execution.nodes.image).toMatchObject({ start: expect.any(Number), cached: false })
    expect(comfy_execution.nodes.image!.duration).toBeGreaterThan(40)
    expect(comfy_execution.end - comfy_execution.start).toBe(comfy_execution.duration)
    expect(times.total_time).toBeGreaterThanOrEqual(comfy_execution.duration)
    expect(Object.values(times).every((time) => time !== undefined && time >= 0)).toBe(true)
  })

  it('the same prompt with the same bytes and without running a node again, whatever the ids', async () => {
    const image = picture()
    const one = await answerTo({ prompt: saving(image) })
    const two = await answerTo({
      prompt: { z: node('TestSave', { images: ['9', 0], filename_prefix: 'test' }), 9: image },
    })
    expect(Object.values(one.stats.comfy_execution.nodes).map(({ cached }) => cached)).toEqual([false, false])
    expect(Object.values(two.stats.comfy_execution.nodes).every(({ cached }) => cached)).toBe(true)
    const three = await answerTo({ prompt: saving(image), id: 'other' })
    expect(three.images).toEqual(one.images)
  })

  it('with a 64-bit seed exactly as it was sent, in the echo and in the file', async () => {
    const body = JSON.stringify({ prompt: saving({ ...picture(), inputs: { ...picture().inputs, seed: 0 } }) })
    const response = await server.post(body.replace('"seed":0', '"seed":18446744073709551615'))
    const text = await response.text()
    expect(text).toContain('"seed":18446744073709551615')
    const [image] = promptAnswerSchema.parse(JSON.parse(text)).images
    expect(Buffer.from(image!, 'base64').toString('latin1')).toContain('"seed": 18446744073709551615')
  })

  it('with files that hold the prompt and the workflow, but never the job id', async () => {
    const { images } = await answerTo({
      id: 'secret-id',
      prompt: saving(picture()),
      extra_data: { extra_pnginfo: { workflow: { nodes: [1] } } },
    })
    const file = Buffer.from(images[0]!, 'base64').toString('latin1')
    expect(file).toMatch(/tEXtprompt\0\{"image": \{"class_type": "TestPicture"/)
    expect(file).toContain('tEXtworkflow\0{"nodes": [1]}')
    expect(file).not.toContain('secret-id')
  })

  it('in the format that was asked for, and says which options it ignored', async () => {
    const { images, filenames, warnings, ...rest } = await answerTo({
      id: 'a',
      prompt: saving(picture()),
      convert_output: { format: 'jpeg', options: { quality: 50, sparkle: 1 } },
      client: 'me',
    })
    expect(filenames).toEqual(['a_test_00001_.jpeg'])
    expect((await sharp(Buffer.from(images[0]!, 'base64')).metadata()).format).toBe('jpeg')
    expect(rest).toMatchObject({ convert_output: { format: 'jpeg', options: { quality: 50 } } })
    expect(warnings).toEqual([
      'client is not a field of a prompt and was ignored',
      'convert_output.options.sparkle has no effect and was ignored',
    ])
  })

  it('never with credentials', async () => {
    const body = {
      prompt: saving(picture()),
      credentials: [{ url_pattern: '*', auth: { type: 'bearer', token: 't0p' } }],
    }
    const text = await (await server.post(body)).text()
    expect(text).not.toMatch(/t0p|credentials/)
  })

  it('for outputs that can run, with what is wrong with the others', async () => {
    const prompt = saving(picture(), { bad: node('TestSave', { images: ['nowhere', 0] }) })
    const response = await server.post({ prompt })
    const body = (await response.json()) as { images: unknown[]; warnings: string[]; node_errors: object }
    expect({ status: response.status, images: body.images.length, bad: Object.keys(body.node_errors) }).toEqual({
      status: 200,
      images: 1,
      bad: ['bad'],
    })
    expect(body.warnings).toHaveLength(1)
  })
})

describe('POST /prompt refuses', () => {
  it.each([
    ['no JSON', '{"prompt": ', 400, 'invalid-json', undefined],
    ['no body', '', 400, 'invalid-json', undefined],
    ['a key that changes objects', '{"__proto__": {"x": 1}}', 400, 'invalid-json', undefined],
    ['no prompt', {}, 400, 'invalid-request', 'prompt'],
    ['a list', [], 400, 'invalid-request', 'body'],
    ['a node without inputs', { prompt: { 5: { class_type: 'TestSave' } } }, 400, 'invalid-request', 'prompt.5.inputs'],
    ['an id that could be a path', { prompt: {}, id: '../x' }, 400, 'invalid-request', 'id'],
    [
      'an unknown format',
      { prompt: {}, convert_output: { format: 'gif' } },
      400,
      'invalid-request',
      'convert_output.format',
    ],
    [
      'a webhook at a private address',
      { prompt: {}, webhook_v2: 'http://10.1.2.3' },
      400,
      'url-not-allowed',
      'webhook_v2',
    ],
    [
      'a header that tells who may be trusted',
      {
        prompt: {},
        credentials: [{ url_pattern: '**', auth: { type: 'header', header_name: 'metadata', header_value: 'true' } }],
      },
      400,
      'invalid-request',
      'credentials.0.auth.header_name',
    ],
    [
      'a picture from a machine of the network',
      { prompt: { 1: node('LoadImage', { image: 'http://192.168.1.1/cgi' }) } },
      400,
      'url-not-allowed',
      'prompt.1.inputs.image',
    ],
    [
      'a picture from anywhere on the disk',
      { prompt: { 1: node('LoadImage', { image: '../../etc/passwd' }) } },
      400,
      'path-not-allowed',
      'prompt.1.inputs.image',
    ],
    ['an upload', { prompt: {}, s3: { bucket: 'pictures', prefix: '' } }, 400, 'upload-not-configured', 's3'],
    ['nothing to do', { prompt: {} }, 400, 'no-output-node', undefined],
    ['an unknown class', { prompt: { 1: node('Magic') } }, 400, 'invalid-graph', 'prompt.1.class_type'],
    ['too large a body', { prompt: {}, x: 'x'.repeat(3 * 2 ** 20) }, 413, 'body-too-large', undefined],
  ])('%s', async (_what, body, status, code, location) => {
    const fault = await faultOf(body)
    expect(fault).toMatchObject({ status, body: { code, status, statusCode: status, type: 'about:blank' } })
    expect(fault.body.error).toBe(fault.body.detail)
    expect(String(fault.body.error).length).toBeGreaterThan(5)
    if (location !== undefined) expect(fault.body.location).toBe(location)
  })

  it('with all faults at once, by location', async () => {
    const { body } = await faultOf({
      prompt: { 5: { class_type: 1 } },
      id: '..',
      convert_output: { format: 'png', options: { quality: 101 } },
    })
    expect(Object.keys(body.errors as object).sort()).toEqual([
      'convert_output.options.quality',
      'id',
      'prompt.5.class_type',
      'prompt.5.inputs',
    ])
  })

  it('faults of the body, of file names and of the graph in one answer', async () => {
    const prompt = saving(picture())
    prompt.image!.inputs.width = 'wide'
    prompt.out!.inputs.filename_prefix = '../up'
    const { status, body } = await faultOf({ prompt, id: '..', convert_output: { format: 'bmp' }, s3: { bucket: 'b' } })
    expect(status).toBe(400)
    expect(Object.keys(body.errors as object).toSorted()).toEqual([
      'convert_output.format',
      'id',
      'prompt.image.inputs.width',
      'prompt.out.inputs.filename_prefix',
      's3.bucket',
      's3.prefix',
    ])
    expect(body.node_errors).toMatchObject({ image: { errors: [{ type: 'invalid_input_type' }] } })
    await expect.poll(server.spooled).toEqual([])
  })

  it('prefixes that lead out of the folder', async () => {
    const prompt = saving(picture())
    for (const filename_prefix of ['../x', '/etc/x', 'a\\b', 'a\0b'])
      expect(
        await faultOf({ prompt: { ...prompt, out: node('TestSave', { images: ['image', 0], filename_prefix }) } }),
      ).toMatchObject({
        status: 400,
        body: { code: 'path-not-allowed', location: 'prompt.out.inputs.filename_prefix' },
      })
  })

  it('prompts that only preview', async () => {
    const prompt = { image: picture(), out: node('TestPreview', { images: ['image', 0] }) }
    expect(await faultOf({ prompt })).toMatchObject({
      status: 400,
      body: { code: 'no-output-node', location: 'prompt' },
    })
  })

  it('other content types', async () => {
    const response = await server.post('{}', { headers: { 'content-type': 'text/plain' } })
    expect(response.status).toBe(415)
    expect(await response.json()).toMatchObject({ code: 'unsupported-media-type' })
  })

  it('a node that fails with its id, class and message, and its own word in the log', async () => {
    const prompt = saving(node('TestFails', { image: ['source', 0], message: 'the lens is dirty' }), {
      source: picture(),
    })
    const response = await server.post(
      { prompt, id: 'failing' },
      { headers: { 'content-type': 'application/json', 'x-request-id': 'r-1' } },
    )
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({
      code: 'execution-failed',
      error: 'Node image (TestFails): the lens is dirty',
      node_id: 'image',
      node_type: 'TestFails',
      instance: 'r-1',
    })
    const line = JSON.parse(await server.line(/"id":"failing"/)) as object
    expect(line).toMatchObject({ request: 'r-1', status: 'failed', code: 'execution-failed', nodes_cached: 0 })
    await expect.poll(server.spooled).toEqual([])
  })

  it('an id that is still running, and takes it again afterwards', async () => {
    const first = server.post({ prompt: saving(slow(20, 10)), id: 'twice' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await faultOf({ prompt: saving(picture()), id: 'twice' })).toMatchObject({
      status: 409,
      body: { code: 'id-conflict' },
    })
    expect((await first).status).toBe(200)
    await expect.poll(async () => (await server.post({ prompt: saving(picture()), id: 'twice' })).status).toBe(200)
  })
})
