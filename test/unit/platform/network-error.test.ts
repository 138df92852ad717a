import { expect, it } from 'vitest'
import { listenError } from '../../../src/platform/network-error.ts'

it.each([
  ['EADDRINUSE', 'MR_NET_ADDRESS_IN_USE', /in use by another process; stop it or choose another port/], ['EACCES', 'MR_NET_LISTEN', /take one from 1024 on/],
  ['EADDRNOTAVAIL', 'MR_NET_LISTEN', /this machine has no such address \(EADDRNOTAVAIL\); listen on one of its own, or on all/],
  ['ENOTFOUND', 'MR_NET_LISTEN', /there is no host of that name/], ['EPERM', 'MR_NET_LISTEN', /EPERM; choose another address or port$/],
])('a listener that cannot be had for %s says where, why and what to do', (errno, code, remedy) => {
  const error = listenError(Object.assign(new Error('x'), { code: errno }), { host: '10.1.2.3', port: 80 })
  expect([error.code, error.details['reason']]).toEqual([code, errno])
  expect(error.message).toContain('10.1.2.3:80')
  expect(error.message).toMatch(remedy)
})
