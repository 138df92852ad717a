import { defineConfig } from 'vitest/config'

/** One project a kind of proof, so that `npm run check` can run the quick ones alone. */
const project = (name: string, options: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: 20_000, hookTimeout: 20_000, ...options },
})

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('conformance', { testTimeout: 60_000 }),
      project('meta'),
      project('interaction'),
      project('sim', { testTimeout: 120_000 }),
      project('fuzz', { testTimeout: 120_000 }),
      project('integration', { globalSetup: ['test/integration/global-setup.ts'], testTimeout: 120_000, hookTimeout: 60_000 }),
    ],
    reporters: ['default'],
    maxWorkers: 2,
  },
})
