import { describe, expect, test } from 'vitest'
import { codecNone } from '../../../../src/kernel/record/compression-codec.ts'
import { createHost } from '../../../../src/kernel/plugin/plugin-host.ts'
import { ProcessStats } from '../../../../src/kernel/ports/process-stats.ts'
import { Threads } from '../../../../src/kernel/ports/threads.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { nodePlatform } from '../../../../src/platform/node-platform-plugin.ts'
import { type Endpoint, type Socket } from '../../../../src/kernel/ports/network.ts'
import { RecordedSocket } from '../../../../src/testkit/conformance/recorded-socket.ts'
import { SimCompression } from '../../../../src/testkit/world/sim-compression.ts'
import { type SimProcess } from '../../../../src/testkit/world/sim-machine.ts'
import { simPlatform } from '../../../../src/testkit/world/sim-platform-plugin.ts'
import { SimWorld } from '../../../../src/testkit/world/sim-world.ts'

/** Appends every byte it is sent to a file, syncs, counts in a store, and answers each byte with one. */
async function journal({ files, keyValues, network }: SimProcess): Promise<Endpoint> {
  files.makeDirectory('/data')
  files.syncDirectory('/')
  const file = files.open('/data/journal', 'ensure')
  files.syncDirectory('/data')
  const counts = await keyValues.open('/data/counts')
  const listener = await network.listen({ host: '0.0.0.0', port: 9092 }, socket => {
    socket.open({
      data: (bytes, offset, length) => {
        const answer = bytes.slice(offset, offset + length)
        file.write([answer], file.size())
        file.sync(() => {
          const count = Uint8Array.of(answer.length & 255)
          void counts.write([{ key: answer.slice(0, 1), value: count }], { sync: answer[0] === 0 }).then(() => socket.write([answer]))
        })
      },
      closed: () => {},
    })
  })
  return listener.endpoint
}

async function talk(world: SimWorld, client: SimProcess, operations: number): Promise<void> {
  const socket = new RecordedSocket(await client.network.connect({ host: 'server', port: 9092 }, { timeoutMs: 5000 }))
  for (let index = 0; index < operations; index++) {
    const before = socket.received.length
    const size = 1 + Math.floor(client.random.fraction() * 3)
    socket.socket.write([client.random.bytes(size)])
    await socket.bytesReceived(before + size)
    if (client.random.fraction() < 0.1) await new Promise<void>(resolve => void client.timers.after(client.random.fraction() * 5, resolve))
  }
  world.trace(`${client.machine} read ${socket.received.slice(-8).join()}`)
  socket.socket.end()
  await socket.gone()
}

async function wholeRun(seed: number): Promise<{ readonly digest: string, readonly events: number }> {
  const world = new SimWorld({ seed })
  await world.run(async () => {
    await journal(world.machine('server').start())
    await Promise.all(['a', 'b', 'c', 'd'].map(name => talk(world, world.machine(name).process, 2500)))
  })
  return { digest: world.digest(), events: world.scheduler.eventsRun }
}

describe('the disk of a machine', () => {
  test('keeps its faults through crashes, loses after a kill what a later power cut takes, and the world counts', async () => {
    const world = new SimWorld({ seed: 3 })
    const machine = world.machine('server', { disk: { blockBytes: 512, names: 'ordered' } })
    machine.start().files.open('/a', 'create').write([Uint8Array.of(1)], 0)
    machine.spoilDisk([{ operation: 'list', error: 'EIO' }])
    machine.crash('kill')
    const second = machine.start().files
    expect(() => second.list('/')).toThrow('EIO')
    expect(second.stat('/a')!.bytes).toBe(1)
    machine.crash('power', { keepUnsynced: 'none' })
    const third = machine.start().files
    expect(() => third.list('/')).toThrow('EIO')
    expect(third.stat('/a')).toBe(undefined)
    machine.spoilDisk([])
    expect(third.list('/')).toEqual([])
    expect(world.faultCounts.all()).toEqual([['crash: name lost', 1], ['list: EIO', 2]])
    await world.runFor(1)
  })

  test('faults by chance and power cuts by chance are the same in every run of a seed', () => {
    const run = (seed: number): string => {
      const world = new SimWorld({ seed })
      const machine = world.machine('server')
      machine.spoilDisk([{ operation: 'write', error: 'EIO', chance: 0.2, keptBytes: 'by chance' }, { operation: 'read', damage: 'bit flipped', chance: 0.3 }])
      for (let life = 0; life < 5; life++) {
        const { files } = machine.start()
        for (let step = 0; step < 20; step++) {
          const file = files.open(`/${step % 3}`, 'ensure')
          try {
            file.write([new Uint8Array(700).fill(step)], step * 300)
          } catch {
            world.trace('failed')
          }
          const target = new Uint8Array(50)
          file.read(target, 0, 50, 0)
          world.trace(target.join())
          if (step % 4 === 0) files.syncDirectory('/')
        }
        machine.crash('power')
      }
      return `${world.digest()} ${JSON.stringify(world.faultCounts.all())}`
    }
    expect(run(1)).toBe(run(1))
    expect(run(2)).not.toBe(run(1))
  })
})

describe('SimWorld', () => {
  test('10,000 operations of four clients, twice with one seed, leave equal traces; another seed leaves another', { timeout: 120_000 }, async () => {
    const first = await wholeRun(11)
    expect(first.events).toBeGreaterThan(40_000)
    expect(await wholeRun(11)).toEqual(first)
    expect((await wholeRun(12)).digest).not.toBe(first.digest)
  })

  test('a killed process leaves what it wrote and its peers are told; a new one goes on from there', async () => {
    const world = new SimWorld({ seed: 1 })
    const server = world.machine('server')
    const client = world.machine('client').process
    await world.run(async () => {
      await journal(server.start())
      const socket = new RecordedSocket(await client.network.connect({ host: 'server', port: 9092 }, { timeoutMs: 1000 }))
      socket.socket.write([Uint8Array.of(1, 2, 3)])
      await socket.bytesReceived(1)
      server.crash('kill')
      await socket.gone()
      expect(String(socket.closedWith)).toContain('ECONNRESET')
      await expect(client.network.connect({ host: 'server', port: 9092 }, { timeoutMs: 1000 })).rejects.toThrow('ECONNREFUSED')
      await journal(server.start())
      expect(server.process.files.stat('/data/journal')!.bytes).toBe(3)
      await talk(world, client, 3)
    })
  })

  test('a power cut takes what was not synced, and peers find out late', async () => {
    const world = new SimWorld({ seed: 2, network: { giveUpMs: 10_000 } })
    const server = world.machine('server')
    const client = world.machine('client').process
    await world.run(async () => {
      const { files } = server.start()
      await journal(server.process)
      const socket = new RecordedSocket(await client.network.connect({ host: 'server', port: 9092 }, { timeoutMs: 1000 }))
      socket.socket.write([Uint8Array.of(1)])
      await socket.bytesReceived(1)
      const file = files.open('/data/journal', 'update')
      file.write([Uint8Array.of(9, 9)], file.size())
      const cutAtMs = world.nowMs
      server.crash('power', { keepUnsynced: 'none' })
      await expect(client.network.connect({ host: 'server', port: 9092 }, { timeoutMs: 700 })).rejects.toThrow('timed out after 700 ms')
      await socket.gone()
      expect(world.nowMs - cutAtMs).toBeGreaterThanOrEqual(10_000)
      expect(server.start().files.stat('/data/journal')!.bytes).toBe(1)
      const counts = await server.process.keyValues.open('/data/counts')
      // The client's byte was counted without a sync.
      expect(await counts.get(Uint8Array.of(1))).toBe(undefined)
    })
  })

  test('nothing of a dead process happens, whatever it had begun', async () => {
    const world = new SimWorld({ seed: 3 })
    const machine = world.machine('m')
    let happened = 0
    const begin = async ({ timers, files, keyValues, network }: SimProcess): Promise<void> => {
      timers.after(1, () => happened++)
      timers.soon(() => happened++)
      const file = files.open('/f', 'ensure')
      file.sync(() => happened++)
      file.readLater(new Uint8Array(1), 0, 1, 0, () => happened++)
      void keyValues.open('/s').then(() => happened++)
      void network.listen({ host: '0.0.0.0', port: 1 }, () => happened++).then(() => happened++)
      void network.connect({ host: 'm', port: 1 }, { timeoutMs: 10 }).then(() => happened++, () => happened++)
    }
    await begin(machine.start())
    machine.crash('kill')
    await world.runFor(60_000)
    expect(happened).toBe(0)
    await begin(machine.start())
    await world.runFor(60_000)
    expect(happened).toBeGreaterThan(5)
  })

  test('a stuck simulation says who waits, with seed and last events', async () => {
    const world = new SimWorld({ seed: 77 })
    const stuck = world.run(async () => {
      const server = world.machine('server').start()
      let accepted: Socket | undefined
      await server.network.listen({ host: '0.0.0.0', port: 1 }, socket => {
        accepted = socket
        socket.open({ data: () => {}, closed: () => {} })
        socket.pause()
      })
      const client = new RecordedSocket(await world.machine('client').process.network.connect({ host: 'server', port: 1 }, { timeoutMs: 10 }))
      client.socket.write([new Uint8Array(5)])
      await client.bytesReceived(1)
      accepted?.end()
    })
    await expect(stuck).rejects.toThrow(/nothing is left to happen, and the main function is still waited for\n {2}connection server:1 .*5 bytes unread while paused/)
    await expect(stuck).rejects.toThrow(/seed 77/)
  })

  test('sleep lets time pass within the main function', async () => {
    const world = new SimWorld({ seed: 1 })
    await world.run(() => world.sleep(1234))
    expect(world.nowMs).toBe(1234)
  })
})

describe('simPlatform', () => {
  test('provides the ports that the real platform provides', async () => {
    const world = new SimWorld({ seed: 1 })
    const plugin = simPlatform(world.machine('m').process, new NodeCompression())
    // A simulated process takes no memory and no processor of its own, and has no thread beside its own.
    expect(plugin.provides).toEqual(nodePlatform.provides!.filter(port => port !== ProcessStats && port !== Threads))
    const host = createHost({ plugins: [plugin] })
    await host.start()
    for (const port of plugin.provides!) expect(host.get(port)).toBeTypeOf('object')
    await host.stop()
  })

  test('codecs that work later do so in simulated time, errors included', async () => {
    const world = new SimWorld({ seed: 1 })
    const compression = new SimCompression(new NodeCompression(), world.machine('m').process.timers, () => 3)
    const results: unknown[] = []
    compression.decompressLater(codecNone, Uint8Array.of(1, 2), 10, (error, bytes) => results.push(error, bytes, world.nowMs))
    compression.decompressLater(1, Uint8Array.of(1, 2), 10, error => results.push(error === undefined))
    compression.compressLater(codecNone, Uint8Array.of(3), undefined, (error, bytes) => results.push(error, bytes, world.nowMs))
    expect(results).toEqual([])
    await world.runFor(3)
    expect(results).toEqual([undefined, Uint8Array.of(1, 2), 3, false, undefined, Uint8Array.of(3), 3])
  })
})
