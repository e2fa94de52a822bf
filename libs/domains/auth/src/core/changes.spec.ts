import { withChanges } from './changes';

interface Fields {
  readonly one?: number;
  readonly two?: number;
  readonly on: boolean;
}

const current: Fields = { one: 1, two: 2, on: true };

it.each<[string, Parameters<typeof withChanges<Fields>>[1], Fields]>([
  ['keeps an absent field', {}, current],
  ['keeps an undefined field', { one: undefined }, current],
  ['removes a field that is null', { one: null }, { two: 2, on: true }],
  ['replaces a field', { one: 5, on: false }, { one: 5, two: 2, on: false }],
])('%s', (_what, changes, changed) => {
  expect(withChanges(current, changes)).toStrictEqual(changed);
});
