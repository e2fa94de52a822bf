/** Whether the text is a key by which secrets are sealed: 256 bits as base64. */
export function isEncryptionKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}
