import { MillraceError } from '../../../kernel/errors/millrace-error.ts'

/** The feature that says which metadata records may be written. Finalised in the metadata itself, so that every node agrees. */
export const metadataVersionFeature = 'metadata.version'

/** What this release reads and writes, by feature. A new cluster begins at the highest. */
export const supportedFeatures: ReadonlyMap<string, { readonly min: number, readonly max: number }> = new Map([
  [metadataVersionFeature, { min: 1, max: 1 }],
])

/** Refuses a level that a newer release has finalised, with MR_CLUSTER_METADATA_NEWER. */
export function checkFeatureLevel(name: string, level: number): void {
  const range = supportedFeatures.get(name)
  if (range !== undefined && level >= range.min && level <= range.max) return
  const reads = range === undefined ? 'does not know it' : `reads ${range.min} to ${range.max}`
  throw new MillraceError('MR_CLUSTER_METADATA_NEWER', { what: `feature ${name} is at level ${level}, this release ${reads}` })
}
