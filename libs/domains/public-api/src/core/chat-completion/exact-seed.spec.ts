import { isRefusal } from '@gateway/errors';
import { ableModel, openPolicy } from '../testing/chat-fixtures';
import { checkChatBody, type CheckedChatBody } from './check-chat-body';

const rules = { policy: openPolicy, models: new Map([[ableModel.id, ableModel]]), wantsSha256: true };
const identity = (text: string): Uint8Array => Buffer.from(text);

function check(members: string): CheckedChatBody {
  const text = `{"model":"acme/able","messages":[{"role":"user","content":"the \\"seed\\": 7"}],${members}}`;
  const checked = checkChatBody(Buffer.from(text), rules, identity);
  if (isRefusal(checked)) throw new Error(checked.message);
  return checked;
}

const bodyOf = ({ request }: CheckedChatBody): unknown =>
  JSON.parse(Buffer.from(request.bodyJson).toString());

it.each([
  ['"seed":9223372036854775807', 9_223_372_036_854_775_807n],
  ['"seed":-9223372036854775808', -9_223_372_036_854_775_808n],
  ['"seed": 9007199254740993 ,"n":1', 9_007_199_254_740_993n],
  ['"seed":\n9007199254740993', 9_007_199_254_740_993n],
  ['"\\u0073eed":9007199254740993', 9_007_199_254_740_993n],
  ['"seed":1,"seed":9007199254740993', 9_007_199_254_740_993n],
  ['"seed":9007199254740993,"metadata":{"seed":1,"a":["seed",{"seed":2}]}', 9_007_199_254_740_993n],
  ['"seed":1e18', 1_000_000_000_000_000_000n],
])('extracts the exact seed of %s and removes it from the body', (members, expected) => {
  const checked = check(members);
  expect(checked.request.exactSeed).toBe(expected);
  expect(bodyOf(checked)).not.toHaveProperty('seed');
});

it.each(['"seed":7', '"seed":9007199254740991', '"seed":9007199254740993,"seed":7', '"seed":1.0e2'])(
  'leaves %s in the body',
  (members) => {
    const checked = check(members);
    expect(checked.request.exactSeed).toBeUndefined();
    expect(bodyOf(checked)).toHaveProperty('seed');
  },
);

it('distinguishes seeds that parse to the same number in the body digest', () => {
  const digest = (seed: string) => Buffer.from(check(`"seed":${seed}`).bodySha256 ?? []).toString();
  expect(digest('9007199254740993')).toBe(digest('9007199254740993'));
  expect(digest('9007199254740993')).not.toBe(digest('9007199254740992'));
});

it('refuses a seed that is no 64-bit integer', () => {
  for (const seed of [
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551616',
    '-1e300',
    '1e999',
    '0.5',
  ]) {
    const text = `{"model":"acme/able","messages":[{"role":"user","content":"x"}],"seed":${seed}}`;
    expect(checkChatBody(Buffer.from(text), rules, identity)).toMatchObject({
      code: 'invalid_request',
      param: 'seed',
    });
  }
});
