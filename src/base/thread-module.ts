/**
 * Where the module of a thread is: beside the one that starts it in sources; in a built package, whose other modules are joined, by its path in dist/. `here`: `import.meta.url`
 * of who starts it. `path`: of the module below src/, without `.ts`.
 */
export function threadModule(here: string, path: string): URL {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (here.endsWith('.ts')) return new URL(`./${name}.ts`, here)
  const built = here.lastIndexOf('/dist/')
  return built < 0 ? new URL(`./${name}.js`, here) : new URL(`${here.slice(0, built)}/dist/${path}.js`)
}
