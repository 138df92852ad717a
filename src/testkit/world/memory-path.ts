/** The names on the way of a path. `.` and `..` are resolved by the text, and a relative path starts at the root. */
export function pathParts(path: string): string[] {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts
}

/** One spelling for all paths that name the same. */
export const normalPath = (path: string): string => `/${pathParts(path).join('/')}`
