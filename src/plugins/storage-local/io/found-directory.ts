import { isUuid, uuidBytes } from '../../../base/uuid.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { parseDirectoryList } from '../core/directory-list.ts'
import { parseMetaProperties } from '../core/meta-properties.ts'
import { type FoundDirectory } from '../core/missing-directories.ts'
import { readWhole } from './index-file.ts'

export const directoryListName = '.millrace-directories'

/** Reads only; throws MR_FILE_… when the disk fails. */
export function findDirectory(files: FileSystem, path: string): FoundDirectory {
  const isThere = files.stat(path)?.kind === 'directory'
  const metaText = isThere ? textIn(files, `${path}/meta.properties`) : undefined
  const listText = isThere ? textIn(files, `${path}/${directoryListName}`) : undefined
  const list = listText === undefined ? undefined : parseDirectoryList(listText)
  const meta = metaText === undefined ? undefined : parseMetaProperties(metaText)
  return {
    path, id: meta?.directoryId !== undefined && isDirectoryId(meta.directoryId) ? meta.directoryId : list?.self,
    listPath: `${path}/${directoryListName}`, hasMeta: metaText !== undefined, meta, list, listText,
    isListDamaged: listText !== undefined && list === undefined, isBlank: metaText === undefined && listText === undefined,
  }
}

function textIn(files: FileSystem, path: string): string | undefined {
  const bytes = readWhole(files, path)
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

/** The first hundred ids are reserved for what Kafka means by them. */
function isDirectoryId(text: string): boolean {
  if (!isUuid(text)) return false
  const bytes = uuidBytes(text)
  return bytes.some((byte, index) => index < 15 ? byte !== 0 : byte >= 100)
}
