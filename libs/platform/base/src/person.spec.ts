import { isTimeZone, personLabel } from './person';

it('shows the name of a person with the email, or the email alone', () => {
  expect(personLabel({ name: 'Ada Lovelace', email: 'ada@example.com' })).toBe(
    'Ada Lovelace <ada@example.com>',
  );
  expect(personLabel({ name: '', email: 'ada@example.com' })).toBe('ada@example.com');
});

it.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['+02:00', false],
  ['Europe/Atlantis', false],
  ['', false],
])('takes %s as a time zone: %s', (text, valid) => expect(isTimeZone(text)).toBe(valid));
