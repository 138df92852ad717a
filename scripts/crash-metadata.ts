/**
 * Damages the metadata that real LevelDBs have written, and starts a voter on each image: it refuses it, or has everything that was acknowledged.
 *
 *   npm run crash:metadata                        5,000 images
 *   npm run crash:metadata -- --images 20000 --seed 7
 */
import { metadataImages } from '../test/crash/metadata-images.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run crash:metadata [-- OPTIONS]

  --images N   so many images (default: 5000)
  --seed N     of the bits and blocks that are damaged by chance (default: 1)
  --blind      with a witness that agrees to everything: what only the witness finds is then found missing`
const { numbers: { images, seed }, flags } = scriptOptionsOrExit(usage, { numbers: { images: 5000, seed: 1 }, flags: ['blind'] })
const startedMs = performance.now()
const seconds = (): string => `${Math.round((performance.now() - startedMs) / 1000)} s`
const result = await metadataImages({ images, seed, isBlind: flags.has('blind'), progress: (done) => { console.log(`${done} of ${images} images, ${seconds()}`) } })
for (const [kind, { refused, whole }] of Object.entries(result.kinds).sort()) console.log(`${kind.padEnd(20)} ${String(refused).padStart(5)} refused ${String(whole).padStart(5)} whole`)
for (const fault of result.faults) console.log(`FAULT ${fault}`)
console.log(`seed ${seed}: ${result.images} images, ${result.salvaged} of them read as a recovery does, ${result.faults.length} faults, ${seconds()}`)
process.exitCode = result.faults.length === 0 ? 0 : 1
