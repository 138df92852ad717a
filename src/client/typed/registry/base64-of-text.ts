const encoder = new TextEncoder()

/** Base64 of the text's UTF-8: user names and passwords are in it. */
export function base64OfText(text: string): string {
  return btoa(Array.from(encoder.encode(text), byte => String.fromCharCode(byte)).join(''))
}
