import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['tools/chaos/*.chaos.ts'], environment: 'node', testTimeout: 30 * 60_000 },
})
