const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file', ENOTDIR: 'there is no such file', EISDIR: 'it is a directory', EACCES: 'permission denied', EPERM: 'permission denied',
}

/** Why a file that was named cannot be read, without its path, which whoever reports it has said. */
export function unreadableReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return reasons[code ?? ''] ?? message.replace(/, \w+ '.*'$/, '')
}
