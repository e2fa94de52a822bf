/** Whether a text has the form of one email address, without a name and without anything that could add a recipient. */
export function isEmailAddress(text: string): boolean {
  return /^[^\s@\0<>,;]{1,64}@[^\s@\0<>,;]{1,255}$/.test(text);
}
