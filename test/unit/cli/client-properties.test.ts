import { describe, expect, it } from 'vitest'
import { connectionFromProperties } from '../../../src/cli/client-properties.ts'

const files: Readonly<Record<string, string>> = { '/ca.pem': 'CA', '/both.pem': 'BOTH', '/cert.pem': 'CERT', '/key.pem': 'KEY' }
const readText = (path: string): string => {
  if (files[path] === undefined) throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' })
  return files[path]
}
const read = (...lines: readonly string[]): unknown => connectionFromProperties(lines.join('\n'), 'client.properties', readText)

describe('client properties of Kafka', () => {
  it('an empty file changes nothing', () => {
    expect(read('')).toEqual({})
  })

  it('a line without a key, and a key that is there twice, are refused with the line', () => {
    for (const line of ['=x', ':x', ' = ']) expect(() => read('client.id=me', line), line).toThrow('configuration client.properties: line 2: no key before the value; write it as key=value')
    expect(() => read('client.id=me', '', 'client.id = you')).toThrow('configuration client.properties: line 3: client.id is in line 1 already; keep one of them')
  })

  it('addresses, names and times', () => {
    expect(read('bootstrap.servers=a:1,b:2', 'client.id=me', 'client.rack=r1', 'request.timeout.ms=5000', 'retry.backoff.ms=7')).toEqual({
      bootstrap: 'a:1,b:2', clientId: 'me', rack: 'r1', requestTimeoutMs: 5000, retryBackoffMs: 7,
    })
  })

  it('the size of requests, for who produces', () => {
    expect(read('max.request.size=4194304')).toEqual({ requestBytesMax: 4_194_304 })
    expect(() => read('max.request.size=4m')).toThrow('line 1: max.request.size=4m is not a whole number of bytes')
  })

  it('SASL with the JAAS line that Kafka wants', () => {
    expect(read(
      'security.protocol=SASL_PLAINTEXT', 'sasl.mechanism=SCRAM-SHA-256',
      'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\', '  username="ada" \\', '  password="p\\\\"w;=d";',
    )).toEqual({ sasl: { mechanism: 'SCRAM-SHA-256', username: 'ada', password: 'p"w;=d' } })
    expect(read('security.protocol=sasl_plaintext', 'sasl.mechanism=plain', 'sasl.jaas.config=x required password=\'b\' username=a;')).toEqual({
      sasl: { mechanism: 'PLAIN', username: 'a', password: 'b' },
    })
  })

  it('SASL as librdkafka names it', () => {
    expect(read('security.protocol=SASL_PLAINTEXT', 'sasl.mechanism=PLAIN', 'sasl.username=u', 'sasl.password=p')).toEqual({
      sasl: { mechanism: 'PLAIN', username: 'u', password: 'p' },
    })
  })

  it('TLS with the authorities of the system', () => {
    expect(read('security.protocol=SSL')).toEqual({ tls: { verify: true } })
  })

  it('TLS from PEM files and from PEM in the file', () => {
    expect(read('security.protocol=SSL', 'ssl.truststore.type=PEM', 'ssl.truststore.location=/ca.pem', 'ssl.keystore.type=PEM', 'ssl.keystore.location=/both.pem'))
      .toEqual({ tls: { verify: true, ca: 'CA', cert: 'BOTH', key: 'BOTH' } })
    expect(read('security.protocol=SSL', 'ssl.ca.location=/ca.pem', 'ssl.certificate.location=/cert.pem', 'ssl.key.location=/key.pem', 'enable.ssl.certificate.verification=false'))
      .toEqual({ tls: { verify: false, ca: 'CA', cert: 'CERT', key: 'KEY' } })
    expect(read('security.protocol=SSL', 'ssl.truststore.certificates=-----BEGIN\\n--')).toEqual({ tls: { verify: true, ca: '-----BEGIN\n--' } })
  })

  const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a typo, with the nearest name', ['security.protocl=SSL'], /line 1: unknown client property security\.protocl; did you mean security\.protocol\?/],
    ['a property of producers', ['', 'linger.ms=5'], /line 2: unknown client property linger\.ms/],
    ['an unknown protocol', ['security.protocol=TLS'], /not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL/],
    ['a mechanism that is not there', ['security.protocol=SASL_SSL', 'sasl.mechanism=GSSAPI'], /line 2: sasl\.mechanism=GSSAPI is not one of PLAIN/],
    ['SASL without a mechanism', ['security.protocol=SASL_SSL'], /sasl\.mechanism is missing/],
    ['a JAAS line without a password', ['security.protocol=SASL_SSL', 'sasl.mechanism=PLAIN', 'sasl.jaas.config=x required username="a";'], /line 3: no password/],
    ['credentials that the protocol would not use', ['sasl.username=a'], /sasl\.username has no effect with security\.protocol=PLAINTEXT/],
    ['certificates that the protocol would not use', ['security.protocol=SASL_PLAINTEXT', 'sasl.mechanism=PLAIN', 'ssl.ca.location=/ca.pem'], /ssl\.ca\.location has no effect/],
    ['a store of Java', ['security.protocol=SSL', 'ssl.truststore.location=/etc/kafka.jks'], /no PEM file; export it as PEM/],
    ['a type of store', ['security.protocol=SSL', 'ssl.truststore.type=JKS'], /ssl\.truststore\.type=JKS cannot be read/],
    ['a file that is not there', ['security.protocol=SSL', 'ssl.ca.location=/none.pem'], /line 2: ssl\.ca\.location=\/none\.pem: there is no such file$/],
    ['names of hosts that nobody checks', ['security.protocol=SSL', 'ssl.endpoint.identification.algorithm='], /always checked/],
    ['a time that is no number', ['request.timeout.ms=5s'], /not a whole number/],
  ]
  it.each(refused)('refuses %s', (_what, lines, message) => {
    expect(() => read(...lines)).toThrow(expect.objectContaining({ code: 'MR_CONFIG_FILE', message: expect.stringMatching(message) }))
  })

  it('never repeats a password in an error', () => {
    expect(() => read('security.protocol=SASL_SSL', 'sasl.mechanism=PLAIN', 'sasl.jaas.config=x required password="hush";')).toThrow(expect.objectContaining({
      message: expect.not.stringContaining('hush'),
    }))
  })
})
