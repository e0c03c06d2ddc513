/** A preview on its way to the client that sent the prompt. */
export interface Preview {
  readonly prompt: string
  readonly node: string
  readonly jpeg: Uint8Array
}

/** Kinds of binary messages, and of pictures in them, by ComfyUI's numbers. */
const PREVIEW_IMAGE = 1
const PREVIEW_IMAGE_WITH_METADATA = 4
const JPEG = 1

/** `[kind, kind of picture, picture]`, numbers in 4 bytes with the highest first. */
export const plainFrame = ({ jpeg }: Preview): Buffer => Buffer.concat([number(PREVIEW_IMAGE), number(JPEG), jpeg])

/** `[kind, length of the text, text, picture]`: the text is JSON that says what the picture is of. */
export function describedFrame({ prompt, node, jpeg }: Preview): Buffer {
  const names = { node_id: node, prompt_id: prompt, display_node_id: node, parent_node_id: null, real_node_id: node }
  const text = Buffer.from(JSON.stringify({ ...names, image_type: 'image/jpeg' }))
  return Buffer.concat([number(PREVIEW_IMAGE_WITH_METADATA), number(text.length), text, jpeg])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
