import { Prng } from './prng.ts'

/** Bytes that no file system makes smaller, always the same: to fill space that is to be kept back. */
export function incompressibleBytes(count: number): Uint8Array {
  const random = new Prng(1)
  return new Uint8Array(Uint32Array.from({ length: Math.ceil(count / 4) }, () => random.uint32()).buffer, 0, count)
}
