/** What `reading` gives; undefined when the file or folder is not there. One that cannot be read is a fault all the same. */
export function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
