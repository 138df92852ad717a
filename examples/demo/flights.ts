import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, type AsyncBuffer, type FileMetaData } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

/** Three million flights of 2001: where from, where to, when, how far, how late. */
const datasetPath = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '../data/flights-3m.parquet')

/** One block of flights, a column each; the flights are in the order of their departure. */
export interface FlightBlock {
  readonly count: number
  /** Departure, milliseconds since 1970. */
  readonly dateMs: Float64Array
  /** Minutes. */
  readonly delay: Int32Array
  /** Miles. */
  readonly distance: Int32Array
  readonly origin: readonly string[]
  readonly destination: readonly string[]
}

/** The first `limit` flights of the file, a row group (about 270,000) at a time. */
export async function* readFlights(limit: number): AsyncGenerator<FlightBlock> {
  const file = await asyncBufferFromFile(datasetPath)
  const metadata = await parquetMetadataAsync(file)
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = Math.min(limit, rowStart + Number(group.num_rows))
    if (rowEnd <= rowStart) return
    yield await readBlock(file, metadata, rowStart, rowEnd)
    rowStart += Number(group.num_rows)
  }
}

export async function countFlights(): Promise<number> {
  return Number((await parquetMetadataAsync(await asyncBufferFromFile(datasetPath))).num_rows)
}

async function readBlock(file: AsyncBuffer, metadata: FileMetaData, rowStart: number, rowEnd: number): Promise<FlightBlock> {
  const columns = new Map<string, ArrayLike<unknown>>()
  await parquetRead({
    file, metadata, compressors, rowStart, rowEnd,
    onChunk: ({ columnName, columnData, rowStart: from }) => {
      columns.set(columnName, Array.prototype.slice.call(columnData, rowStart - from, rowEnd - from))
    },
  })
  const column = (name: string): ArrayLike<unknown> => {
    const data = columns.get(name)
    if (data?.length !== rowEnd - rowStart) throw new Error(`${datasetPath}: column ${name} has ${data?.length ?? 0} of ${rowEnd - rowStart} rows`)
    return data
  }
  return {
    count: rowEnd - rowStart,
    dateMs: Float64Array.from(column('date'), (date) => (date as Date).getTime()),
    delay: Int32Array.from(column('delay'), Number),
    distance: Int32Array.from(column('distance'), Number),
    origin: column('origin') as unknown as readonly string[],
    destination: column('destination') as unknown as readonly string[],
  }
}
