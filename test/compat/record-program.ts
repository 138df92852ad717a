import { type ConsumeRun, type ProduceRun } from './client.ts'
import { runProgram } from './process.ts'
import { decodeStream, encodeStream, type ReceivedRecord } from './record-stream.ts'

/** Both sides of a client that is driven by one of our record programs, started as `command` with `args` before its own. */
export function recordProgram (command: () => string, args: readonly string[] = [], env: Record<string, string> = {}) {
  return {
    async produce ({ bootstrap, topic, codec, dataset }: ProduceRun): Promise<void> {
      await runProgram(command(), [...args, 'produce', bootstrap, topic, codec],
        { input: encodeStream(dataset.contents), env })
    },
    async consume ({ bootstrap, topic, counts }: ConsumeRun): Promise<ReceivedRecord[]> {
      const count = counts.reduce((sum, n) => sum + n, 0)
      const { stdout } = await runProgram(command(),
        [...args, 'consume', bootstrap, topic, String(counts.length), String(count)], { env })
      return decodeStream(stdout)
    },
  }
}
