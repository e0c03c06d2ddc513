import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { comfyRequests, type Json } from '../../support/comfy-requests.ts'
import { sharedFolder } from '../../support/folder.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

const folder = sharedFolder()
const input = () => join(folder(), 'input')
let server: Server
beforeAll(async () => {
  await mkdir(input())
  server = await startServer({
    INPUT_DIR: input(),
    INPUT_MAX_MB: '1',
    MODEL_DIR: 'models',
  })
})
afterAll(async () => void (await server.stop()))

const { get, post, submit, over } = comfyRequests(() => server)

const formOf = (bytes: Uint8Array, name: string | undefined, fields: Record<string, string> = {}) => {
  const form = new FormData()
  form.append('image', new Blob([Buffer.from(bytes)]), name)
  for (const [key, value] of Object.entries(fields)) form.append(key, value)
  return form
}
const upload = async (form: FormData, path = '/upload/image') => {
  const response = await fetch(server.url + path, { method: 'POST', body: form })
  return [response.status, await response.json()] as [number, Json]
}
const red = (width = 4) =>
  sharp({ create: { width, height: 4, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } } })
    .png()
    .toBuffer()
const pixel = async (bytes: ArrayBuffer) => [...(await sharp(Buffer.from(bytes)).raw().toBuffer())].slice(0, 4)

it('takes pictures in under names of their own, and the same picture once', async () => {
  const [one, other] = [await red(), await red(8)]
  const placed = (name: string, subfolder = '') => [200, { name, subfolder, type: 'input' }]
  expect(await upload(formOf(one, 'red.png'))).toEqual(placed('red.png'))
  expect(await upload(formOf(one, 'red.png'), '/api/upload/image')).toEqual(placed('red.png'))
  expect(await upload(formOf(other, 'red.png'))).toEqual(placed('red (1).png'))
  expect(await upload(formOf(other, 'red.png', { overwrite: 'true', type: 'input' }))).toEqual(placed('red.png'))
  expect(await upload(formOf(one, 'a b.png', { subfolder: 'some/where' }))).toEqual(placed('a b.png', 'some/where'))
  expect(await upload(formOf(one, 'some'))).toEqual(placed('some (1)'))
  expect(await readdir(input())).toEqual(['red (1).png', 'red.png', 'some', 'some (1)'])
  const [, { prompt_id }] = await submit(saving(node('LoadImage', { image: 'some/where/a b.png' })))
  expect((await over(prompt_id)).status).toMatchObject({ completed: true })
})

it('keeps uploads inside the input folder, and takes nothing but pictures of the size it allows', async () => {
  await symlink(folder(), join(input(), 'out'))
  const one = await red()
  const status = async (form: FormData) => (await upload(form))[0]
  for (const name of ['../x.png', '/x.png', '.x.png', 'a/b.png', '..', 'C:\\x.png'])
    expect(await status(formOf(one, name))).toBe(400)
  for (const subfolder of ['..', '../x', '/tmp', 'a/../..', 'out', 'out/x', 'x\0y'])
    expect(await status(formOf(one, 'x.png', { subfolder }))).toBe(400)
  for (const type of ['output', 'temp', 'elsewhere']) expect(await status(formOf(one, 'x.png', { type }))).toBe(400)
  expect(await status(formOf(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'x.png'))).toBe(400)
  expect(await status(formOf(Buffer.alloc(0), 'x.png'))).toBe(400)
  expect(await status(formOf(Buffer.concat([one, Buffer.alloc(1 << 20)]), 'x.png'))).toBe(413)
  expect(await status(formOf(Buffer.concat([one, Buffer.alloc(4 << 20)]), 'x.png')).catch(() => 413)).toBe(413)
  expect(await status(new FormData())).toBe(400)
  expect((await post('/upload/image', {})).status).toBe(415)
  const broken = { 'content-type': 'multipart/form-data; boundary=x' }
  for (const body of [
    '',
    '--x\r\n\r\n',
    'nonsense',
    '--x\r\ncontent-disposition: form-data; name="image"; filename="x.png"\r\n\r\nabc',
  ])
    expect((await fetch(`${server.url}/upload/image`, { method: 'POST', body, headers: broken })).status).toBe(400)
  const page = { method: 'POST', body: formOf(one, 'x.png'), headers: { origin: 'https://evil.example' } }
  expect((await fetch(`${server.url}/upload/image`, page)).status).toBe(403)
  expect((await readdir(input())).filter((name) => name.startsWith('.'))).toEqual([])
  expect(await readdir(folder())).toEqual(['input'])
})

it('puts the transparency of a mask into a picture of the server', async () => {
  const opaque = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#00ff00' } })
    .png()
    .toBuffer()
  await upload(formOf(opaque, 'green.png'))
  const ref = (filename: string, type = 'input') => JSON.stringify({ filename, subfolder: '', type })
  const mask = (original_ref: string) =>
    upload(formOf(mask4, 'masked.png', { original_ref, overwrite: '1' }), '/upload/mask')
  const mask4 = await red()
  expect(await mask(ref('green.png'))).toEqual([200, { name: 'masked.png', subfolder: '', type: 'input' }])
  const masked = await fetch(`${server.url}/view?filename=masked.png&type=input`)
  expect(await pixel(await masked.arrayBuffer())).toEqual([0, 255, 0, 128])

  const [, { prompt_id }] = await submit(saving(picture({ width: 4, height: 4 })))
  await over(prompt_id)
  expect((await mask(ref(`${prompt_id}_test_00001_.png`, 'output')))[0]).toBe(200)
  const withTexts = await (await fetch(`${server.url}/view?filename=masked.png&type=input`)).text()
  expect(withTexts).toContain('tEXtprompt')

  expect((await mask(ref('gone.png')))[0]).toBe(404)
  expect((await mask(ref('../green.png')))[0]).toBe(400)
  expect((await mask('{'))[0]).toBe(400)
  expect((await upload(formOf(mask4, 'x.png'), '/upload/mask'))[0]).toBe(400)
  const wide = await upload(formOf(await red(8), 'x.png', { original_ref: ref('green.png') }), '/upload/mask')
  expect(wide).toMatchObject([400, { code: 'media-unsupported' }])
})

it('shows pictures whole, small, or a channel of them, and nothing else of the disk', async () => {
  await writeFile(join(input(), 'seen.png'), await red())
  await writeFile(join(input(), 'page.png'), '<!doctype html><script>alert(1)</script>')
  const view = async (query: string) => {
    const response = await fetch(`${server.url}/view?${query}`)
    return { status: response.status, mime: response.headers.get('content-type'), bytes: await response.arrayBuffer() }
  }
  const seen = 'type=input&filename=seen.png'
  expect(await pixel((await view(seen)).bytes)).toEqual([255, 0, 0, 128])
  expect(await pixel((await view('filename=seen.png%20[input]')).bytes)).toEqual([255, 0, 0, 128])
  const rgb = await view(`${seen}&channel=rgb`)
  expect([rgb.mime, (await sharp(Buffer.from(rgb.bytes)).metadata()).channels]).toEqual(['image/png', 3])
  expect(await pixel((await view(`${seen}&channel=a`)).bytes)).toEqual([0, 0, 0, 128])
  expect((await view(`${seen}&channel=rgba`)).mime).toBe('image/png')
  expect((await view(`${seen}&preview=webp;90`)).mime).toBe('image/webp')
  expect((await view(`${seen}&preview=jpeg;50`)).mime).toBe('image/webp')
  expect((await view(`${seen}&preview=jpeg;50&channel=rgb`)).mime).toBe('image/jpeg')
  expect((await view('type=input&filename=page.png')).mime).toBe('application/octet-stream')
  expect((await view('type=input&filename=page.png&preview=webp')).status).toBe(400)

  const statuses: Record<string, number> = {
    '': 404,
    'filename=': 404,
    'filename=gone.png': 404,
    'filename=gone.png&type=temp': 404,
    'filename=../seen.png&type=input': 400,
    'filename=/etc/passwd': 400,
    'filename=seen.png&type=models': 400,
    'filename=passwd&type=input&subfolder=../../etc': 403,
    'filename=passwd&type=input&subfolder=/etc': 403,
    'filename=some&type=input': 404,
    'filename=x&filename=y': 404,
  }
  for (const [query, expected] of Object.entries(statuses))
    expect([query, (await view(query)).status]).toEqual([query, expected])
  await symlink('/etc', join(input(), 'etc'))
  expect((await view('filename=passwd&type=input&subfolder=etc')).status).toBe(404)
})

it('describes itself, its nodes and its models', async () => {
  const [, stats] = await get('/api/system_stats')
  expect(stats).toMatchObject({ system: { os: 'posix', embedded_python: false, argv: [] }, devices: [{ type: 'cpu' }] })
  expect(await get('/features')).toEqual([200, { supports_preview_metadata: true, max_upload_size: 2 ** 20 }])
  expect(await get('/extensions')).toEqual([200, []])
  expect(await get('/embeddings')).toEqual([200, []])
  expect((await get('/api/models'))[1]).toContain('checkpoints')
  expect((await get('/models'))[1]).toHaveProperty('checkpoints')
  expect((await get('/models/checkpoints'))[1]).toContain('easel-demo.safetensors')
  for (const gone of [
    '/models/nope',
    '/models/..%2f',
    '/api/nope',
    '/view_metadata/checkpoints',
    '/view_metadata/x?filename=y',
  ])
    expect([gone, (await get(gone))[0]]).toEqual([gone, 404])
  expect((await get('/view_metadata/checkpoints?filename=gone.safetensors'))[0]).toBe(404)
  expect(Object.keys((await get('/api/object_info/SaveImage'))[1])).toEqual(['SaveImage'])
  for (const [path, allow] of [
    ['/queue', 'GET, HEAD, POST'],
    ['/view', 'GET, HEAD'],
    ['/upload/mask', 'POST'],
    ['/free', 'POST'],
  ] as const) {
    const { status, headers } = await fetch(server.url + path, { method: 'DELETE' })
    expect([status, headers.get('allow')]).toEqual([405, allow])
  }
})
