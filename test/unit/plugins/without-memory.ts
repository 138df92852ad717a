import { vi } from 'vitest'

/** Runs what finds no memory for arrays but small ones, until it returns. */
export function withoutMemory<T>(run: () => T): T {
  for (const name of ['Int32Array', 'Uint8Array', 'SharedArrayBuffer'] as const) {
    vi.stubGlobal(name, new Proxy(globalThis[name], {
      construct: (target, args: readonly unknown[], made) => {
        if (typeof args[0] === 'number' && args[0] > 100) throw new RangeError('Array buffer allocation failed')
        return Reflect.construct(target, args, made) as object
      },
    }))
  }
  try {
    return run()
  } finally {
    vi.unstubAllGlobals()
  }
}
