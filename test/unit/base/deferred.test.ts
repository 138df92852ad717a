import { expect, test } from 'vitest'
import { deferred } from '../../../src/base/deferred.ts'

test('is settled from outside, once', async () => {
  const done = deferred<number>()
  done.resolve(1)
  done.resolve(2)
  done.reject(new Error('too late'))
  await expect(done.promise).resolves.toBe(1)
  const failed = deferred()
  failed.reject(new Error('no'))
  await expect(failed.promise).rejects.toThrow('no')
})
