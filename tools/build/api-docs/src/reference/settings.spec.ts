import { allSettings } from './settings';

it('every setting has a description: sentences that start with a capital letter or a value', () => {
  const settings = allSettings();
  expect(settings.length).toBeGreaterThan(50);
  expect(
    settings.filter(({ description }) => !/^[A-Z`].{10,}\.$/s.test(description)).map(({ name }) => name),
  ).toEqual([]);
});
