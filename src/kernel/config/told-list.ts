/** Before version 4 of DescribeConfigs a value has at most so many bytes. */
export const shortValueBytesMax = 32_767

/** What a broker tells in a setting of type list: as many of the entries, which are ASCII, from the first as fit. */
export function toldList(entries: readonly string[], bytesMax: number): string {
  let bytes = -1
  const over = entries.findIndex((entry) => (bytes += entry.length + 1) > bytesMax)
  return (over < 0 ? entries : entries.slice(0, over)).join(',')
}
