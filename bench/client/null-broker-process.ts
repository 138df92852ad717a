/** A NullBroker behind TCP, in a process of its own, so that the CPU of the client is the client's alone. Prints its port. */
import { BytesReader } from '../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../src/base/bytes-writer.ts'
import { type Socket } from '../../src/kernel/ports/network.ts'
import { NodeNetwork } from '../../src/platform/node-network.ts'
import {
  apiVersionsApi, codecFor, fetchApi, FrameSplitter, initProducerIdApi, listOffsetsApi, metadataApi, produceApi, readRequestHeader, writeResponseFrame, type Api,
} from '../../src/wire/index.ts'
import { NullBroker } from './null-broker.ts'

const [partitions, valueBytes, batchBytes] = process.argv.slice(2).map(Number)
const apis = new Map([produceApi, fetchApi, listOffsetsApi, metadataApi, initProducerIdApi, apiVersionsApi].map(api => [api.key, api as unknown as Api]))

function serve(socket: Socket, broker: NullBroker): void {
  const frames = new FrameSplitter({ frameBytesMax: 104_857_600 })
  const reader = new BytesReader()
  socket.open({
    data: (bytes, offset, length) => {
      frames.feed(bytes, offset, offset + length)
      while (frames.next()) {
        reader.reset(frames.buffer, frames.offset, frames.offset + frames.length)
        const header = readRequestHeader(reader)
        const api = apis.get(header.apiKey)!
        const request = codecFor(api.request, header.apiVersion).read(reader)
        const { response } = broker.answer(header.apiKey, request)
        const writer = new BytesWriter()
        writeResponseFrame(writer, api, { version: header.apiVersion, correlationId: header.correlationId }, response as never)
        socket.write(writer.pieces())
      }
    },
    closed: () => undefined,
  })
}

const listener = await new NodeNetwork().listen({ host: '127.0.0.1', port: 0 }, socket => { serve(socket, broker) })
const broker = new NullBroker({ partitions: partitions!, valueBytes: valueBytes!, batchBytes: batchBytes!, ...listener.endpoint })
process.stdout.write(`${listener.endpoint.port}\n`)
process.stdin.resume().on('end', () => { process.exit(0) })
