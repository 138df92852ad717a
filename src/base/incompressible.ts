import { Prng } from './prng.ts'

/** Bytes that no file system makes smaller, always the same: to fill space that is to be kept back. */
export function incompressibleBytes(count: number): Uint8Array {
  const random = new Prng(1)
  const words = new Uint32Array(Math.ceil(count / 4))
  for (let index = 0; index < words.length; index++) words[index] = random.uint32()
  return new Uint8Array(words.buffer, 0, count)
}
