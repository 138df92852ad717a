import { describe, expect, it } from 'vitest'
import { ScramClient } from '../../../../src/client/sasl/scram-client.ts'
import { NodeHashing } from '../../../../src/platform/node-hashing.ts'

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value)

/** RFC 7677, section 3. */
const vector = {
  nonce: 'rOprNGfwEbeRWgbNEkqO',
  first: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
  serverFirst: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  final: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
}

const client = (username = 'user', nonce = vector.nonce): ScramClient => new ScramClient(new NodeHashing(), 'sha256', username, 'pencil', nonce)

describe('SCRAM, the side of the client', () => {
  it('speaks as the example of RFC 7677 does', async () => {
    const scram = client()
    expect(text(scram.firstMessage())).toBe(vector.first)
    expect(text(await scram.finalMessage(bytes(vector.serverFirst)))).toBe(vector.final)
    expect(() => { scram.finish(bytes(vector.serverFinal)) }).not.toThrow()
  })

  it('refuses a server that does not know the password', async () => {
    const scram = client()
    await scram.finalMessage(bytes(vector.serverFirst))
    for (const wrong of ['v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=', 'v=', '', 'v=***', 'x=1']) {
      expect(() => { scram.finish(bytes(wrong)) }, wrong).toThrow()
    }
  })

  it('says what the server says against it', async () => {
    const scram = client()
    await scram.finalMessage(bytes(vector.serverFirst))
    expect(() => { scram.finish(bytes('e=invalid-proof')) }).toThrow('invalid-proof')
  })

  it('does not accept a signature before it has asked for one', () => {
    expect(() => { client().finish(bytes(vector.serverFinal)) }).toThrow()
  })

  it.each([
    ['another nonce', vector.serverFirst.replace('rOprNGfwEbeRWgbNEkqO', 'xxxxxxxxxxxxxxxxxxxx'), 'nonce'],
    ['only our own nonce', 'r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096', 'nonce'],
    ['too few iterations', vector.serverFirst.replace('4096', '4095'), 'iterations'],
    ['iterations without end', vector.serverFirst.replace('4096', '999999999'), 'iterations'],
    ['no iterations', vector.serverFirst.replace(',i=4096', ''), 'iterations'],
    ['a salt that is no base64', vector.serverFirst.replace('W22ZaJ0SNY7soEsUEjb6gQ==', '?'), 'base64'],
  ])('refuses a challenge with %s', async (_name, challenge, reason) => {
    await expect(client().finalMessage(bytes(challenge))).rejects.toThrow(reason)
  })

  it('refuses a message that is no UTF-8', async () => {
    await expect(client().finalMessage(new Uint8Array([0xff, 0xfe]))).rejects.toThrow('UTF-8')
  })

  it('escapes what would end a name', () => {
    expect(text(client('a=b,c').firstMessage())).toBe(`n,,n=a=3Db=2Cc,r=${vector.nonce}`)
  })
})
