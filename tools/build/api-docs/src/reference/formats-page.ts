import { type Disposition, type FormatName, requestFormats } from '@gateway/public-api';

const TREATMENT: Readonly<Record<Disposition, string>> = {
  honour: 'honoured',
  forward: 'honoured',
  accept: 'accepted',
  reject: 'refused',
};

/** The table of the fields of a format in docs/reference/formats.md: what the gateway does with each. */
export function fidelityReference(format: FormatName): string {
  const rows = requestFormats[format].fields.map(({ name, disposition, doc, hint }) => {
    const meaning = disposition === 'reject' ? (hint ?? doc) : doc;
    return `| \`${name}\` | ${TREATMENT[disposition]} | ${meaning.replaceAll('|', '\\|')} |`;
  });
  return ['| Field | Treatment | What it does |', '| --- | --- | --- |', ...rows].join('\n');
}
