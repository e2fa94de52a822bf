import { readFileSync } from 'node:fs';
import { chatFields, requestJsonSchema } from '@gateway/public-api';

const page = readFileSync('docs/reference/public-api.md', 'utf8');
const [, afterHeading = ''] = page.split('### Request fields');
const [section = ''] = afterHeading.split('\n### ');

it.each(Object.keys(requestJsonSchema(chatFields)['properties'] ?? {}))(
  'the page lists the field %s',
  (name) => {
    expect(section).toMatch(new RegExp(`\`${name}[\`.:]`));
  },
);
