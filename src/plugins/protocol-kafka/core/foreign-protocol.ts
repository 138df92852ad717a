const httpStarts: ReadonlySet<string> = new Set(['GET ', 'HEAD', 'POST', 'PUT ', 'DELE', 'OPTI', 'PATC', 'CONN', 'TRAC', 'PRI '])

/**
 * What a peer speaks whose first four bytes, read as the size of a frame, come to this; undefined where they say nothing. TLS begins with a
 * handshake record, 22, of a version 3 point something (RFC 8446, 5.1); HTTP with a method, HTTP/2 with PRI (RFC 9113, 3.4). As sizes of frames they are
 * beyond 350 MiB.
 */
export function foreignProtocol(size: number): 'TLS' | 'HTTP' | undefined {
  const bytes = [size >>> 24, (size >>> 16) & 0xff, (size >>> 8) & 0xff, size & 0xff]
  if (bytes[0] === 22 && bytes[1] === 3) return 'TLS'
  return httpStarts.has(String.fromCharCode(...bytes)) ? 'HTTP' : undefined
}

/** For the log: who came to a listener that speaks the plain protocol, and what to do. */
export function foreignClient(protocol: 'TLS' | 'HTTP', listener: string): string {
  return protocol === 'TLS'
    ? `a TLS client at the plaintext listener ${listener}: set its security.protocol to PLAINTEXT, there is no TLS here`
    : `an HTTP client at the Kafka listener ${listener}: metrics and health are at the address of http`
}
