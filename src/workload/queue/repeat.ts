/** Does `work` again and again, each time as many milliseconds after its end as it resolved with. Returns what stops it. */
export function repeat(work: () => Promise<number>): () => void {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const turn = async (): Promise<void> => {
    const wait = await work()
    if (!stopped) timer = setTimeout(() => void turn(), wait)
  }
  void turn()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
