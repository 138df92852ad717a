import { type BatchReceipt } from './batch-receipt.ts'
import { type RecordMetadata } from './producer-record.ts'

/** The receipts of records that were sent together: one promise for all, and none for a record that went straight into a batch. */
export class ManyReceipts {
  private readonly places: RecordMetadata[]
  private failure: { readonly error: unknown } | undefined
  private missing = 1
  private resolve!: (places: RecordMetadata[]) => void
  private reject!: (error: Error) => void
  private readonly promise: Promise<RecordMetadata[]>
  /** By receipt: where the records lie among the many, in the order of the batch, from the first one on. */
  private readonly runs = new Map<BatchReceipt, { readonly from: number, readonly indexes: number[] }>()

  constructor(count: number) {
    this.places = new Array<RecordMetadata>(count)
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  /** The record just added to a batch is the one at `index`. */
  addRecord(index: number, receipt: BatchReceipt): void {
    const run = this.runs.get(receipt)
    if (run === undefined) this.runs.set(receipt, { from: receipt.count - 1, indexes: [index] })
    else run.indexes.push(index)
  }

  addPromise(index: number, promise: Promise<RecordMetadata>): void {
    this.missing++
    promise.then(place => { this.places[index] = place }, (error: unknown) => { this.failure ??= { error } }).then(() => { this.settleOne() }, () => undefined)
  }

  /** All were added, in one turn. */
  all(): Promise<RecordMetadata[]> {
    for (const [receipt, { from, indexes }] of this.runs) {
      this.missing++
      receipt.ask(from, indexes.length, () => {
        for (let at = 0; at < indexes.length; at++) this.take(receipt, from + at, indexes[at]!)
        this.settleOne()
      })
    }
    this.settleOne()
    return this.promise
  }

  private take(receipt: BatchReceipt, recordIndex: number, index: number): void {
    try {
      this.places[index] = receipt.place(recordIndex)
    } catch (error) {
      this.failure ??= { error }
    }
  }

  private settleOne(): void {
    if (--this.missing > 0) return
    if (this.failure === undefined) this.resolve(this.places)
    else this.reject(this.failure.error as Error)
  }
}
