/**
 * Calls `stop` at the first SIGINT or SIGTERM, so that a command ends in order; at the second the process ends at once, as it would have without.
 */
export function onInterrupt(stop: () => void): { end(): void } {
  let asked = false
  const listen = (): void => {
    if (asked) process.exit(130)
    asked = true
    stop()
  }
  process.on('SIGINT', listen)
  process.on('SIGTERM', listen)
  return {
    end: () => {
      process.off('SIGINT', listen)
      process.off('SIGTERM', listen)
    },
  }
}
