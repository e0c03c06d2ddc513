import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandOfImage, readImageCommands } from '../../../src/platform/instances/image-commands.ts'
import { parseImage } from '../../../src/platform/instances/image-reference.ts'
import { emptyFolder } from '../../support/folder.ts'

it.each([
  ['easel', undefined, 'easel', ''],
  ['easel:1', undefined, 'easel', ':1'],
  ['tools/easel', undefined, 'tools/easel', ''],
  ['localhost/easel:1', 'localhost', 'easel', ':1'],
  ['localhost:5000/easel', 'localhost:5000', 'easel', ''],
  ['registry.example.com/a/easel:1.16.1', 'registry.example.com', 'a/easel', ':1.16.1'],
  [`r.example/easel:1@sha256:${'a'.repeat(64)}`, 'r.example', 'easel', `:1@sha256:${'a'.repeat(64)}`],
])('takes the name of the image %s apart', (image, registry, repository, version) => {
  expect(parseImage(image)).toEqual({ registry, repository, name: repository.split('/').at(-1), version })
})

const commands = { 'r.example/easel:2': ['second'], 'tools-*': ['tool'], easel: ['first'], '*/any.?': ['dotted'] }

it.each([
  ['registry.example.com/easel:1.16.1', ['first']],
  [`easel@sha256:${'a'.repeat(64)}`, ['first']],
  ['r.example/easel:2', ['second']],
  ['r.example/tools-one:1', ['tool']],
  ['easel-more:1', undefined],
  ['more-easel', undefined],
  ['r/any.?', ['dotted']],
  ['r/anyxx', undefined],
])('runs in place of the image %s what the first pattern says: %j', (image, command) => {
  expect(commandOfImage(commands, image)).toEqual(command)
})

it('reads them from a file, and says what is wrong there', async () => {
  const file = join(await emptyFolder(), 'images.json')
  const read = async (content: string) => {
    await writeFile(file, content)
    return readImageCommands(file)
  }
  expect(await read('{ "easel": ["node", "main.js"] }')).toEqual({ easel: ['node', 'main.js'] })
  await expect(read('{ "easel": [] }')).rejects.toThrow(new RegExp(`${file} are not valid:[^]*at easel`))
  await expect(read('{')).rejects.toThrow(`${file} is not valid JSON`)
  await expect(readImageCommands('/nowhere/images.json')).rejects.toThrow('/nowhere/images.json')
})
