import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import { actionLabel } from './audit-actions';

it('has a label for every audit action of the contract', () => {
  const actions = Object.values(endpoints)
    .flatMap((family) => Object.values<Endpoint>(family))
    .flatMap(({ audit = [] }) => audit);
  expect(actions.length).toBeGreaterThan(20);
  expect(actions.filter((action) => actionLabel(action) === action)).toEqual([]);
});

it('falls back to the name of an unknown action', () =>
  expect(actionLabel('future.thing')).toBe('future.thing'));
