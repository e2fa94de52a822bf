/** A person as lists and the audit log show them: "Ada Lovelace <ada@example.com>"; the email without a name. */
export function personLabel({ name, email }: { readonly name: string; readonly email: string }): string {
  return name === '' ? email : `${name} <${email}>`;
}

/** Whether the text is an IANA time zone that this process knows, such as "Europe/Berlin". */
export function isTimeZone(text: string): boolean {
  // Offsets such as "+02:00" have no summer time.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
