/** A file that came or went. */
export interface FileFact {
  /** Where it came from; undefined when nobody knows any more. */
  readonly url: string | undefined
  /** Below the folder of its kind: what lies above is nobody's business. */
  readonly name: string
  readonly bytes: number
}

/** Who is told of files, once it has happened. */
export interface FileEvents {
  downloaded(file: FileFact & { readonly seconds: number }): void
  deleted(file: FileFact): void
}
