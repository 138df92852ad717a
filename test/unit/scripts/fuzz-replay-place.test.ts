import { expect, it } from 'vitest'
import { replayProblem } from '../../fuzz/command.ts'

it.each([
  ['missing-file', '--replay missing-file: it takes the file of a corpus and a line of it, such as test/fuzz/corpus/batches.jsonl:3'],
  ['test/fuzz/corpus/batches.jsonl', expect.stringContaining('it takes the file of a corpus and a line of it') as string],
  ['missing/batches.jsonl:3', '--replay missing/batches.jsonl:3: there is no file missing/batches.jsonl'],
  ['test/fuzz/corpus/nonsense.jsonl:3', expect.stringContaining('no target is called nonsense; they are codecs, ') as string],
  ['test/fuzz/corpus/batches.jsonl:0', expect.stringMatching(/the file has the lines 1 to \d+$/) as string],
  ['test/fuzz/corpus/batches.jsonl:1000000', expect.stringMatching(/the file has the lines 1 to \d+$/) as string],
  ['test/fuzz/corpus/batches.jsonl:1', undefined],
])('a place in the corpus that is none is a sentence: %s', (place, sentence) => {
  expect(replayProblem(place)).toEqual(sentence)
})
