// The one timer function outside platform. It measures no time and lets none pass: it is how "all promise chains have gone as far as they
// can" is found out, for which the language has no other sign. Taken at load, so that fake timers of a test do not replace it.
// eslint-disable-next-line no-restricted-globals
const afterMicrotasks = setImmediate

/** Resolves when no microtask is left: every promise chain that can go on without an event has done so, however long it is. */
export function settled(): Promise<void> {
  return new Promise(resolve => {
    afterMicrotasks(resolve)
  })
}
