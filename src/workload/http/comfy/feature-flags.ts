/** What this server can do, as ComfyUI's clients ask for it; `maxUploadBytes` is the most of one picture. */
export const featureFlags = (maxUploadBytes: number) => ({
  supports_preview_metadata: true,
  max_upload_size: maxUploadBytes,
})
