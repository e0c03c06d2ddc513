import { rename } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../src/platform/base/listen.ts'
import { signedHeaders } from '../../../src/platform/instances/aws-signature.ts'
import { containerIn, dockerLauncher, orderOf, standInPlace } from '../../support/docker-bench.ts'

// Each container of the stand-in has an address of 127.0.0.0/8, which only Linux gives for nothing.
const isLinux = process.platform === 'linux'

describe.runIf(isLinux)('a container of the stand-in for a Docker Engine', () => {
  it('is created with what its group asks for, as far as the engine has it', async () => {
    const place = await standInPlace()
    const resources = {
      cpu: 16,
      memory: 2048,
      shm_size: 128,
      storage_amount: 2 ** 31,
      gpu_classes: [crypto.randomUUID()],
    }
    const container = containerIn(place.image, {
      ...{ resources, command: ['node', '-e', '0'] },
      environment_variables: { MINE: 'a=b', WORKLOAD_NAME: 'forged' },
    })
    const environment = { WORKLOAD_NAME: 'first', INSTANCE_ID: 'an-id', HOSTNAME: 'an_id' }
    await (await dockerLauncher(place).start(orderOf(place, '0', { container, environment, ports: [80] }))).ended
    expect(place.created[0]).toEqual({
      ...{ Image: place.image, Cmd: container.command, StopSignal: 'SIGTERM', ExposedPorts: { '80/tcp': {} } },
      Env: ['MINE=a=b', 'WORKLOAD_NAME=first', 'INSTANCE_ID=an-id', 'HOSTNAME=an_id'],
      Labels: { 'easel.platform': expect.any(String), 'easel.machine': expect.any(String) },
      HostConfig: {
        ...{ Memory: 2 ** 31, NanoCpus: 2e9, ShmSize: 2 ** 27, StorageOpt: { size: `${2 ** 31}` } },
        DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }],
        PortBindings: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
        ExtraHosts: ['host.docker.internal:host-gateway'],
      },
    })
    expect(place.containers().map(({ name }) => name)).toEqual(['first-an-id'])
  })

  it('waits for an engine that is away for a moment', async () => {
    const place = await standInPlace()
    await rename(place.socketPath, `${place.socketPath}.away`)
    const starting = dockerLauncher(place).start(orderOf(place, '0'))
    await rename(`${place.socketPath}.away`, place.socketPath)
    expect(await (await starting).ended).toBe(0)
  })

  it('does without what the engine cannot give, also when several find that out at once', async () => {
    const refuses = {
      StorageOpt: `--storage-opt is supported only for overlay over xfs with 'pquota' mount option`,
      DeviceRequests: 'could not select device driver "nvidia" with capabilities: [[gpu]]',
    }
    const place = await standInPlace({ refuses })
    const launcher = dockerLauncher(place)
    const resources = { cpu: 1, memory: 1024, gpu_classes: [crypto.randomUUID()] }
    const container = containerIn(place.image, { resources, command: ['node', '-e', '0'] })
    const start = async () => (await launcher.start(orderOf(place, '0', { container }))).ended
    expect(await Promise.all([start(), start()])).toEqual([0, 0])
    const before = place.created.length
    expect(await start()).toBe(0)
    expect(place.created.length - before).toBe(1) // each refusal is remembered
  })
})

describe('an image', () => {
  const image = 'registry.test/application:1'
  const login = { username: 'ann', password: 'secret' }
  const usual = { command: ['node'], layers: [1000, 200] }
  const prepared = async (images: Parameters<typeof standInPlace>[0], more = {}, name = image) =>
    dockerLauncher(await standInPlace(images)).prepare(containerIn(name, more))

  it('is pulled, and its digest and compressed size are known', async () => {
    const place = await standInPlace({ images: { [image]: usual } })
    const launcher = dockerLauncher(place)
    const hash = `sha256:${'a'.repeat(64)}`
    expect(await launcher.prepare(containerIn(image))).toEqual({ hash, size: 1200 })
    expect(await launcher.prepare(containerIn(image))).toEqual({ hash }) // some of its layers were here
  })

  it('is the latest where no version is named, and may be one that was built here', async () => {
    expect(
      await prepared(
        { images: { 'registry.test:5000/application:latest': usual } },
        {},
        'registry.test:5000/application',
      ),
    ).toMatchObject({ size: 1200 })
    expect(await prepared({}, {}, 'localhost/node:1')).toMatchObject({ hash: `sha256:${'b'.repeat(64)}` })
  })

  it.each([
    ['basic', { basic: login }, login],
    ['docker_hub', { docker_hub: { username: 'ann', personal_access_token: 'secret' } }, login],
    ['gcp_gar', { gcp_gar: { service_key: '{"a":1}' } }, { username: '_json_key', password: '{"a":1}' }],
    ['gcp_gcr', { gcp_gcr: { service_key: 'eyJh' } }, { username: '_json_key_base64', password: 'eyJh' }],
  ])('is pulled with a login: %s', async (_kind, registry_authentication, known) => {
    const images = { [image]: { ...usual, login: known } }
    expect(await prepared({ images }, { registry_authentication })).toMatchObject({ size: 1200 })
    const wrong = { basic: { username: 'ann', password: 'wrong' } }
    await expect(prepared({ images }, { registry_authentication: wrong })).rejects.toThrow(
      `The image ${image} cannot be pulled: unauthorized: authentication required`,
    )
  })

  it.each([
    ['unknown', {}, 'pull access denied for registry.test/application:1'],
    ['cut', { [image]: { ...usual, failure: 'unexpected EOF' } }, 'unexpected EOF'],
    ['too large', { [image]: { ...usual, layers: [30e9, 5e9 + 1] } }, 'is larger than 35 GB'],
  ])('cannot be had when it is %s, and the reason is told', async (_what, images, reason) => {
    await expect(prepared({ images })).rejects.toThrow(
      expect.objectContaining({ name: 'ImageUnavailable', message: expect.stringContaining(reason) }),
    )
  })

  it('is pulled with a login that Amazon gives for keys', async () => {
    const asked: string[] = []
    const amazon = await listen('127.0.0.1', 0)
    onTestFinished(() => amazon.close(0))
    amazon.answer(({ headers }, response) => {
      asked.push(`${headers['x-amz-target']} ${headers.authorization}`)
      response.statusCode = headers.authorization?.includes('Credential=good/') ? 200 : 400
      const authorizationToken = Buffer.from('AWS:one:two').toString('base64')
      response.end(JSON.stringify({ authorizationData: [{ authorizationToken }] }))
    })
    const name = '123456789012.dkr.ecr.eu-west-1.amazonaws.com/application:1'
    const place = await standInPlace({
      images: { [name]: { ...usual, login: { username: 'AWS', password: 'one:two' } } },
    })
    const launcher = dockerLauncher(place, { ecr: `http://127.0.0.1:${amazon.port}/` })
    const prepare = (access_key_id: string, image = name) => {
      const registry_authentication = { aws_ecr: { access_key_id, secret_access_key: 'secret' } }
      return launcher.prepare(containerIn(image, { registry_authentication }))
    }
    expect(await prepare('good')).toMatchObject({ size: 1200 })
    expect(asked[0]).toMatch(
      /GetAuthorizationToken AWS4-HMAC-SHA256 Credential=good\/\d{8}\/eu-west-1\/ecr\/aws4_request/,
    )
    await expect(prepare('bad')).rejects.toThrow('there is no login: AWS answers with status 400')
    await expect(prepare('good', image)).rejects.toThrow('registry.test is no registry of Amazon ECR')
  })

  it('cannot be had under a name that is none', async () => {
    await expect(prepared({}, {}, '../containers/json?all=1')).rejects.toThrow('invalid reference format')
  })
})

it('signs requests as Amazon’s own example is signed', () => {
  const headers = signedHeaders(
    {
      ...{ method: 'GET', url: new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'), body: '' },
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    },
    {
      ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      ...{ region: 'us-east-1', service: 'iam', time: Date.parse('2015-08-30T12:36:00Z') },
    },
  )
  expect(headers.authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  )
})
