/** What every load driver reports. */
export interface Rate {
  readonly messages: number
  readonly seconds: number
  readonly perSecond: number
}

export function makeRate (messages: number, seconds: number): Rate {
  return { messages, seconds, perSecond: messages / seconds }
}
