import type { Migration } from '@gateway/database';
import eventLog from './20261120090000_event_log/migration.sql';
import deadLetterStates from './20261122012000_dead_letter_states/migration.sql';
import eventsByDay from './20261122020000_events_by_day/migration.sql';

/** The history of the `event_log` schema. */
export const eventLogMigrations: readonly Migration[] = [
  { name: '20261120090000_event_log', sql: eventLog },
  { name: '20261122012000_dead_letter_states', sql: deadLetterStates },
  { name: '20261122020000_events_by_day', sql: eventsByDay },
];
