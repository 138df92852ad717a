const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const durationUnits: readonly (readonly [string, number])[] = [
  ['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000], ['ms', 1],
]

/** Bytes for people: three significant digits in powers of 1024, `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // 1023.5 and more would print as 1024 of the smaller unit.
  while (Math.abs(value) >= 1023.5 && unit < byteUnits.length - 1) {
    value /= 1024
    unit++
  }
  const digits = unit === 0 || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2
  return `${trimZeros(value.toFixed(digits))} ${byteUnits[unit]!}`
}

/** A duration for people, its two largest units: `2d 3h`, `1m 5s`, `15ms`. */
export function formatDuration(durationMs: number): string {
  let rest = Math.round(Math.abs(durationMs))
  const sign = durationMs < 0 && rest > 0 ? '-' : ''
  const parts: string[] = []
  for (const [unit, size] of durationUnits) {
    if (parts.length === 2) break
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    else if (parts.length > 0) break
  }
  return parts.length === 0 ? '0ms' : sign + parts.join(' ')
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
