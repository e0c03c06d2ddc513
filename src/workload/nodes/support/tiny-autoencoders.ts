/** What the tiny autoencoders are called, in the order in which they are offered. */
const names: readonly string[] = ['taesd', 'taesdxl', 'taesd3', 'taef1']

/** Those of `files` that the tiny autoencoder `name` is made of: the halves that are there. */
export const tinyFiles = (name: string, files: readonly string[]): readonly string[] =>
  names.includes(name) ? files.filter((file) => ['encoder', 'decoder'].some((half) => isHalf(name, half, file))) : []

/** The tiny autoencoders whose halves are both among `files`. */
export const tinyNames = (files: readonly string[]): readonly string[] =>
  names.filter((name) => ['encoder', 'decoder'].every((half) => files.some((file) => isHalf(name, half, file))))

const isHalf = (name: string, half: string, file: string): boolean => file.startsWith(`${name}_${half}.`)
