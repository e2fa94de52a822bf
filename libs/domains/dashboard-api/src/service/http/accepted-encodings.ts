/** The encodings that a client accepts, from its Accept-Encoding header. */
export function acceptedEncodings(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => {
    const [name = '', quality = ''] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return /^q=0(\.0*)?$/.test(quality) ? [] : [name];
  });
}
