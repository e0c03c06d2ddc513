/** Text with its percent escapes resolved; as it was when one is broken. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
