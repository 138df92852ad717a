import { expect, it } from 'vitest'
import { optionalPackage } from '../../../../src/client/typed/optional-package.ts'
import { installedPackage } from '../../../../src/platform/installed-package.ts'
import { thrown } from './typed-fixtures.ts'

it('a package that is not there, does not load, or is another one is named, with what needs it and what to do', () => {
  const ask = (load: (name: string) => unknown): unknown => thrown(() => optionalPackage<{ Type: unknown }>('avsc', 'avro()', ({ Type }) => Type !== undefined, load))
  const details = { what: 'avro()', package: 'avsc', version: '5.7.9' }
  expect(ask(() => installedPackage('no-such-package-of-anybody'))).toMatchObject({
    code: 'MR_CLIENT_PACKAGE_MISSING', details, message: 'avro() needs the package avsc, and it cannot be loaded: it is not installed; npm install avsc@5.7.9',
  })
  expect(ask(() => { throw new Error('wrong ELF class') })).toMatchObject({ details, message: expect.stringContaining('wrong ELF class') })
  expect(ask(() => ({}))).toMatchObject({ details, message: expect.stringContaining('another one') })
  expect(optionalPackage<{ Type: unknown }>('avsc', 'avro()', ({ Type }) => Type !== undefined)).toHaveProperty('Type')
})
