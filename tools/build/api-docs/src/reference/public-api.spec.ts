import { readFileSync } from 'node:fs';
import { chatRequestJsonSchema } from '@gateway/public-api';

const page = readFileSync('docs/reference/public-api.md', 'utf8');
const [, afterHeading = ''] = page.split('### Request fields');
const [section = ''] = afterHeading.split('\n### ');

it.each(Object.keys(chatRequestJsonSchema()['properties'] ?? {}))('the page lists the field %s', (name) => {
  expect(section).toMatch(new RegExp(`\`${name}[\`.:]`));
});
