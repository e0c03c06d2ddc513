/** `work`, done at the first call only; later calls share its promise. A failure is not kept. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => {
    pending ??= work().catch((error: unknown) => {
      pending = undefined
      throw error
    })
    return pending
  }
}
