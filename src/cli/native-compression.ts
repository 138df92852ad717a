import { type Compression } from '../kernel/ports/compression.ts'
import { NodeCompression } from '../platform/codecs/node-compression.ts'

let compression: Compression | undefined

/** The codecs of this process, loaded when a command first meets a compressed batch. */
export function nativeCompression(): Compression {
  return compression ??= new NodeCompression()
}
