import { type Disposition, type FormatName, requestFormats } from '@gateway/public-api';

const TREATMENT: Readonly<Record<Disposition, string>> = {
  honour: 'honoured',
  forward: 'honoured',
  accept: 'accepted',
  reject: 'refused',
};

/** The fields of a format in docs/reference/formats.md, and what the gateway does with each. */
export function fidelityReference(format: FormatName): string {
  return requestFormats[format].fields
    .map(({ name, disposition, doc, hint }) => {
      const meaning = disposition === 'reject' ? (hint ?? doc) : doc;
      return `- \`${name}\`: ${TREATMENT[disposition]}. ${meaning}`;
    })
    .join('\n');
}
