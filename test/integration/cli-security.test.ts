import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kafkaAvailable, startKafka, type RunningKafka } from '../compat/kafka-broker.ts'
import { ensureBuilt } from './built.ts'
import { cli, oneLine, type CliResult } from './cli-run.ts'

/** Listeners with TLS and SASL are Apache Kafka's until millrace has its own. */
describe.skipIf(!kafkaAvailable())('--command-config against Apache Kafka with TLS and SASL', () => {
  let kafka: RunningKafka | undefined
  let folder = ''
  beforeAll(async () => {
    ensureBuilt()
    folder = mkdtempSync(join(tmpdir(), 'millrace-security-'))
    kafka = await startKafka({ users: { ada: 'open-sesame' }, tls: true })
    writeFileSync(join(folder, 'ca.pem'), kafka.caPem!)
  }, 180_000)
  afterAll(async () => {
    await kafka?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const status = (bootstrap: string, ...properties: readonly string[]): Promise<CliResult> => {
    const path = join(folder, `client-${properties.length}.properties`)
    writeFileSync(path, properties.join('\n'))
    return cli(['cluster', 'status', '-o', 'json', '--bootstrap', bootstrap, '--command-config', path])
  }
  const ca = (): string => `ssl.truststore.location=${join(folder, 'ca.pem')}`
  const jaas = (password: string): string => `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="ada" password="${password}";`
  const password = 'open-sesame'

  it('TLS with a certificate authority of its own', async () => {
    expect(await status(kafka!.tlsBootstrap!, 'security.protocol=SSL', 'ssl.truststore.type=PEM', ca())).toMatchObject({ code: 0, stderr: '' })
  })

  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])('SASL with %s, over TLS and without', async (mechanism) => {
    expect(await status(kafka!.saslBootstrap!, 'security.protocol=SASL_PLAINTEXT', `sasl.mechanism=${mechanism}`, jaas(password))).toMatchObject({ code: 0, stderr: '' })
    expect(await status(kafka!.saslTlsBootstrap!, 'security.protocol=SASL_SSL', `sasl.mechanism=${mechanism}`, jaas(password), ca())).toMatchObject({ code: 0, stderr: '' })
  })

  it('a wrong password is refused in one line that does not repeat it', async () => {
    const result = await status(kafka!.saslBootstrap!, 'security.protocol=SASL_PLAINTEXT', 'sasl.mechanism=SCRAM-SHA-256', jaas('hush'))
    expect([result.code, oneLine(result)]).toEqual([1, expect.stringMatching(/^error MR_CLIENT_AUTHENTICATION: /)])
    expect(result.stderr).not.toContain('hush')
  })

  it('a certificate that nobody vouches for is refused, and named as the reason', async () => {
    const result = await status(kafka!.tlsBootstrap!, 'security.protocol=SSL')
    expect([result.code, oneLine(result)]).toEqual([1, expect.stringMatching(/^error MR_CLIENT_TLS: .*SELF_SIGNED_CERT.*ssl\.truststore\.location/)])
  })

  it('plain text to a port for TLS is said to be that', async () => {
    const result = await status(kafka!.tlsBootstrap!)
    expect([result.code, oneLine(result)]).toEqual([1, expect.stringMatching(/^error MR_CLIENT_NO_BROKERS: .*is it a port for TLS/)])
  })
})
