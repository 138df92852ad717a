import { defineConfig } from 'vitest/config'

const long = 'test/**/*.long.test.ts'

/**
 * One project a kind of proof, so that `npm run check` can run the quick ones alone. Files do not share what they change, so they share the modules that they
 * load: loading them anew for each file took longer than the tests. The time of a test is bounded for those that hang, on machines that are busy too.
 */
const project = (name: string, options: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], exclude: [long], isolate: false, testTimeout: 60_000, hookTimeout: 60_000, ...options },
})

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('conformance', { testTimeout: 120_000 }),
      project('meta'),
      // Exhaustive ones: a crash at every call, every bit flipped, every way to break what a kit is for.
      project('long', { include: [long], exclude: [], testTimeout: 300_000 }),
      project('sim', { testTimeout: 300_000 }),
      project('fuzz', { testTimeout: 300_000 }),
      project('integration', { globalSetup: ['test/integration/global-setup.ts'], testTimeout: 300_000, hookTimeout: 120_000 }),
    ],
    reporters: ['default'],
    maxWorkers: 2,
  },
})
