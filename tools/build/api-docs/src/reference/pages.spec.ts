import type { JsonObject } from '@gateway/public-api';
import { code, heading, links, paragraph, table, type Block } from './blocks';
import { htmlOf } from './html';
import { markdownOf } from './markdown';
import { prettyJson } from './pretty-json';
import { memberRows } from './schema-table';

const page: readonly Block[] = [
  heading(1, 'A <page>'),
  paragraph('Text with `code<T>` & more.'),
  table(['Name', 'Meaning'], [['`a|b`', 'either']]),
  code('http', 'GET /<x>\n'),
  links('See', ['some_code']),
  heading(2, 'some_code'),
];

test('a page as Markdown', () => {
  expect(markdownOf(page)).toBe(
    [
      '# A <page>',
      'Text with `code<T>` & more.',
      '| Name   | Meaning |\n| ------ | ------- |\n| `a\\|b` | either  |',
      '```http\nGET /<x>\n```',
      'See [`some_code`](#some_code)',
      '## some_code\n',
    ].join('\n\n'),
  );
});

test('a page as HTML lets no text be taken for markup', () => {
  const html = htmlOf('"T" & <t>', page);
  expect(html).toContain('<title>&#34;T&#34; &#38; &#60;t&#62;</title>');
  expect(html).toContain('<p>Text with <code>code&#60;T&#62;</code> &#38; more.</p>');
  expect(html).toContain('<pre><code>GET /&#60;x&#62;</code></pre>');
  expect(html).toContain('<a href="#some_code"><code>some_code</code></a>');
  expect(html).toContain('<h2 id="some_code">some_code</h2>');
  expect(html).not.toMatch(/<(page|t|x|T)>/);
});

test('JSON has a member per line, and plain lists on one line where they fit', () => {
  const long = Array.from({ length: 30 }, (_, index) => `item ${index}`);
  expect(prettyJson({ a: ['x', 1, null], b: {}, c: [], d: [{ e: true }] })).toBe(
    '{\n  "a": ["x", 1, null],\n  "b": {},\n  "c": [],\n  "d": [\n    {\n      "e": true\n    }\n  ]\n}',
  );
  expect(prettyJson({ long }).split('\n')).toHaveLength(long.length + 4);
  expect(JSON.parse(prettyJson({ long }))).toEqual({ long });
});

test('members are listed with those of references, lists and alternatives', () => {
  const target: JsonObject = {
    type: 'object',
    properties: { deep: { type: 'integer', minimum: 1, maximum: 9 } },
  };
  const schema: JsonObject = {
    type: 'object',
    required: ['kind'],
    properties: {
      kind: { const: 'k', description: 'Its kind.' },
      items: { type: 'array', items: { $ref: '#/x' } },
      maybe: { anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
      either: {
        oneOf: [
          { type: 'object', properties: { tag: { const: 'a' } }, required: ['tag'] },
          { type: 'object', properties: { tag: { const: 'b' }, more: { type: 'string', minLength: 1 } } },
        ],
      },
    },
  };
  expect(memberRows(schema, () => target)).toEqual([
    ['`kind`', '`"k"`', 'Its kind.'],
    ['`items`', 'array of object, optional', ''],
    ['`items[].deep`', 'integer, 1 to 9, optional', ''],
    ['`maybe`', 'object or null, optional', ''],
    ['`maybe.deep`', 'integer, 1 to 9, optional', ''],
    ['`either`', 'object, optional', ''],
    ['`either.tag`', '`"a"`, `"b"`, optional', ''],
    ['`either.more`', 'string, not empty, optional', ''],
  ]);
});
