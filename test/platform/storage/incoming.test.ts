import { pbkdf2 } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createIncoming } from '../../../src/platform/storage/incoming.ts'
import { readUploadForm } from '../../../src/platform/storage/upload-form.ts'
import { emptyFolder } from '../../support/folder.ts'

const headers = { 'content-type': 'multipart/form-data; boundary=edge' }
const half = Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na')

/** Keeps the threads busy that also open and remove files, so that these come late and overtake each other. */
const occupy = () => Array.from({ length: 3 }, () => pbkdf2('a', 'b', 2000, 32, 'sha512', () => undefined))

describe('half a form', () => {
  it('leaves no file, although it breaks off while the file is being made', async () => {
    const folder = await emptyFolder()
    const { take } = createIncoming(folder)
    for (let i = 0; i < 500; i++) {
      occupy()
      const pieces = async function* () {
        yield half
      }
      const form = readUploadForm(headers, pieces(), async (bytes) => ({
        ...(await take(bytes)),
        keep: async () => {},
      }))
      await expect(form).rejects.toThrow('cannot be read')
    }
    expect(await readdir(folder)).toEqual([])
  })
})
