import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import { sentenceOf } from './audit-actions';

it('says every audited action of the contract in words', () => {
  const actions = Object.values(endpoints)
    .flatMap((family) => Object.values<Endpoint>(family))
    .flatMap(({ audit = [] }) => audit);
  expect(actions.length).toBeGreaterThan(20);
  expect(actions.filter((action) => sentenceOf(action) === action)).toEqual([]);
});

it('shows the name of an action that it does not know', () =>
  expect(sentenceOf('future.thing')).toBe('future.thing'));
