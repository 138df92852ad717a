/**
 * Most bytes that the records of one batch may decompress to. A producer's own limits (max.request.size, message.max.bytes) count
 * uncompressed bytes and stand at 1 MB, so that honest batches stay far below; a batch made to exhaust memory does not.
 */
export const decompressedBytesMax = 64 * 1024 * 1024

/** At most so many records of a refused batch are named in its answer. */
export const recordErrorsMax = 1000
