/** Sizes and times as people read them. */
export function shownBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`
}

/** UTC; `-` for none. */
export function shownTime(timestampMs: number): string {
  return timestampMs < 0 ? '-' : new Date(timestampMs).toISOString()
}

export function shownDuration(ms: number): string {
  if (ms < 0) return 'for ever'
  const units: readonly (readonly [number, string])[] = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's']]
  for (const [size, name] of units) {
    if (ms >= size && ms % size === 0) return `${ms / size} ${name}`
  }
  return `${ms} ms`
}
