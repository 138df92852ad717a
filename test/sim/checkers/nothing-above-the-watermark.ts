import { type Checker, type HistoryEvent, Violation } from '../history.ts'

/** S8: a fetch returns nothing at or above the high watermark, and with read_committed nothing at or above the last stable offset. */
export class NothingAboveTheWatermark implements Checker {
  readonly claim = 'S8 nothing above the watermark'

  see(event: HistoryEvent): void {
    if (event.kind !== 'fetched') return
    const { partition, isolation, highWatermark, lastStableOffset, records } = event
    if (lastStableOffset > highWatermark) throw new Violation(`the last stable offset of ${partition}, ${lastStableOffset}, is above the high watermark ${highWatermark}`)
    const bound = isolation === 'read_committed' ? lastStableOffset : highWatermark
    const above = records.find(record => record.offset >= bound)
    if (above !== undefined) throw new Violation(`a ${isolation} fetch of ${partition} gave offset ${above.offset}, and its bound is ${bound}`)
  }
}
