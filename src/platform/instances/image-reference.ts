/** The parts of an image's name, e.g. `registry.example.com/tools/easel:1` (platform reference, section 8.6). */
export interface ImageReference {
  /** The registry's host, where the name has one. */
  readonly registry: string | undefined
  /** The name without registry, tag and digest. */
  readonly repository: string
  /** The last segment of that. */
  readonly name: string
  /** What follows the name: a tag, a digest, or both; empty when neither is given. */
  readonly version: string
}

/** Takes the name of an image apart, as container engines do. */
export function parseImage(image: string): ImageReference {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const registry = first === 'localhost' || /[.:]/.test(first) ? first : undefined
  const path = registry === undefined ? image : image.slice(slash + 1)
  const [repository = ''] = path.split(/[:@]/)
  return {
    registry,
    repository,
    name: repository.slice(repository.lastIndexOf('/') + 1),
    version: path.slice(repository.length),
  }
}
