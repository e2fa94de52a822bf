import { prettyJson } from './pretty-json';

it('writes a member per line, and plain lists on one line where they fit', () => {
  const long = Array.from({ length: 30 }, (_, index) => `item ${index}`);
  expect(prettyJson({ a: ['x', 1, null], b: {}, c: [], d: [{ e: true }] })).toBe(
    '{\n  "a": ["x", 1, null],\n  "b": {},\n  "c": [],\n  "d": [\n    {\n      "e": true\n    }\n  ]\n}',
  );
  expect(prettyJson({ long }).split('\n')).toHaveLength(long.length + 4);
  expect(JSON.parse(prettyJson({ long }))).toEqual({ long });
});
