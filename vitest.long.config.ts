import { defineConfig } from 'vitest/config'

/** What takes long, or measures processes that are killed and started again: `npm run test:long`. */
export default defineConfig({
  test: {
    include: ['test/**/*.long.ts', 'tools/chaos/*.long.ts'],
    environment: 'node',
    globalSetup: ['test/support/redis.setup.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
})
