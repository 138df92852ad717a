import { type Target, type TargetName } from '../target.ts'
import { BatchesTarget } from './batches.ts'
import { CodecsTarget } from './codecs.ts'
import { FilesTarget } from './files.ts'
import { FormatsTarget } from './formats.ts'
import { FramesTarget } from './frames.ts'
import { RequestsTarget } from './requests.ts'

/** A target that knows of no input yet. */
export async function openTarget(name: TargetName, seed: number): Promise<Target> {
  switch (name) {
    case 'codecs': return new CodecsTarget()
    case 'batches': return new BatchesTarget()
    case 'requests': return RequestsTarget.open(seed)
    case 'frames': return FramesTarget.open()
    case 'formats': return new FormatsTarget()
    case 'files': return FilesTarget.open()
  }
}
