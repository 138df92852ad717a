import { type Prng } from '../../../src/base/prng.ts'
import { batchesIn } from '../../../src/kernel/record/record-batch.ts'
import { type Mark, type Specimen } from './specimen.ts'
import { contentOf, type StoreImage } from './store-images.ts'

/** A file of an image as it is, its format's fields marked. */
export function makeFile(image: StoreImage, prng: Prng): Specimen {
  const path = prng.pick(image.paths)
  const whole = contentOf(image.files, path)
  const bytes = isRedo(path) ? withoutZeroes(whole) : whole
  return { kind: `${image.name} ${path}`, bytes, marks: marksOf(path, bytes) }
}

/** Redo files are written full of zeroes beforehand: what a mutant leaves of one is filled up again. */
export function isRedo(path: string): boolean {
  return path.endsWith('.redo')
}

function withoutZeroes(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.slice(0, end)
}

function marksOf(path: string, bytes: Uint8Array): Mark[] {
  if (path.endsWith('.log')) return segmentMarks(bytes)
  if (path.endsWith('.index')) return rows(bytes, [4, 4], 0)
  if (path.endsWith('.timeindex')) return rows(bytes, [8, 4], 0)
  if (path.endsWith('.snapshot')) return [...rows(bytes.subarray(0, 10), [2, 4, 4], 0), ...rows(bytes, [8, 2, 4, 8, 4, 8, 4, 8], 10)]
  return isRedo(path) || path.endsWith('reserve') ? [] : textMarks(bytes)
}

function segmentMarks(bytes: Uint8Array): Mark[] {
  const marks: Mark[] = []
  for (const { at, sizeBytes } of batchesIn(bytes)) {
    marks.push({ kind: 'element', at, length: sizeBytes, counts: false })
    for (const [offset, length] of [[0, 8], [8, 4], [12, 4], [16, 1], [17, 4], [21, 2], [23, 4], [27, 8], [35, 8], [43, 8], [51, 2], [53, 4], [57, 4]] as const) {
      marks.push({ kind: 'int', at: at + offset, length, counts: offset === 8 || offset === 23 || offset === 57 })
    }
  }
  return marks
}

function rows(bytes: Uint8Array, widths: readonly number[], start: number): Mark[] {
  const marks: Mark[] = []
  const width = widths.reduce((sum, one) => sum + one, 0)
  for (let row = start; row + width <= bytes.length; row += width) {
    marks.push({ kind: 'element', at: row, length: width, counts: false })
    let at = row
    for (const length of widths) {
      marks.push({ kind: 'int', at, length, counts: true })
      at += length
    }
  }
  return marks
}

/** Words, numbers and lines. */
function textMarks(bytes: Uint8Array): Mark[] {
  const text = Buffer.from(bytes).toString('latin1')
  return [
    ...Array.from(text.matchAll(/[^\s=:]+/g), ({ index, 0: { length } }): Mark => ({ kind: 'text', at: index, length, counts: false })),
    ...Array.from(text.matchAll(/[^\n]*\n/g), ({ index, 0: { length } }): Mark => ({ kind: 'element', at: index, length, counts: false })),
  ]
}
