import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import type { UnixMs } from '@gateway/base';
import { fuzzRuns } from '@gateway/test-support';
import { parseUsageQuery } from './parse-usage-query';

const NOW = Date.parse('2026-11-20T23:59:59Z') as UnixMs;
const PROJECT = `proj-01${'A'.repeat(24)}`;

it('defaults to the last 30 days by day and model', () => {
  expect(parseUsageQuery({}, NOW)).toEqual({
    startDate: '2026-10-22',
    endDate: '2026-11-20',
    groupBy: ['day', 'model'],
  });
});

it.each<[Record<string, unknown>, object]>([
  [{ end_date: '2026-03-01' }, { startDate: '2026-01-31', endDate: '2026-03-01' }],
  [{ start_date: '2026-11-01' }, { startDate: '2026-11-01', endDate: '2026-11-20' }],
  [
    { start_date: '2024-02-29', end_date: '2024-02-29' },
    { startDate: '2024-02-29', endDate: '2024-02-29' },
  ],
  [{ start_date: '2026-08-23', end_date: '2026-11-20' }, { startDate: '2026-08-23' }],
  [{ end_date: '2027-01-01' }, { startDate: '2026-12-03', endDate: '2027-01-01' }],
  [
    { start_date: '1969-12-31', end_date: '1970-01-01' },
    { startDate: '1969-12-31', endDate: '1970-01-01' },
  ],
  [{ end_date: '0001-01-02' }, { startDate: '0001-01-01', endDate: '0001-01-02' }],
  [{ group_by: 'api_key' }, { groupBy: ['api_key'] }],
  [{ group_by: 'api_type,project' }, { groupBy: ['project', 'api_type'] }],
  [{ group_by: 'api_key, day,day' }, { groupBy: ['day', 'api_key'] }],
  [{ group_by: 'user,day' }, { groupBy: ['day', 'user'] }],
  [{ group_by: 'tag:Customer.id-1,day, tag:Customer.id-1' }, { groupBy: ['day', 'tag:Customer.id-1'] }],
  [{ model: 'acme/m-1' }, { modelId: 'acme/m-1' }],
  [{ run_id: 'agent/42' }, { runId: 'agent/42' }],
  [{ project_id: PROJECT }, { projectId: PROJECT }],
  [{ api_type: 'messages' }, { apiType: 'messages' }],
  [{ page: '5', Start_Date: 'x', __proto__: { start_date: 'x' } }, { startDate: '2026-10-22' }],
])('parses %j as %j', (query, expected) => {
  expect(parseUsageQuery(query, NOW)).toMatchObject(expected);
});

it.each<[Record<string, unknown>, string]>([
  [{ start_date: '' }, 'start_date'],
  [{ start_date: '2026-11-31' }, 'start_date'],
  [{ start_date: '2026-1-1' }, 'start_date'],
  [{ start_date: '2026-11-01T00:00:00Z' }, 'start_date'],
  [{ start_date: 'yesterday' }, 'start_date'],
  [{ start_date: ['2026-11-01', '2026-11-02'] }, 'start_date'],
  [{ start_date: { a: 'b' } }, 'start_date'],
  [{ end_date: '2025-02-29' }, 'end_date'],
  [{ end_date: '0000-01-01' }, 'end_date'],
  [{ start_date: '2026-11-21' }, 'start_date'],
  [{ start_date: '2026-11-02', end_date: '2026-11-01' }, 'start_date'],
  [{ start_date: '2026-08-22', end_date: '2026-11-20' }, 'start_date'],
  [{ group_by: '' }, 'group_by'],
  [{ group_by: 'day,' }, 'group_by'],
  [{ group_by: 'hour' }, 'group_by'],
  [{ group_by: 'constructor' }, 'group_by'],
  [{ group_by: 'tag' }, 'group_by'],
  [{ group_by: 'tag:' }, 'group_by'],
  [{ group_by: 'tag:two words' }, 'group_by'],
  [{ group_by: `tag:${'x'.repeat(65)}` }, 'group_by'],
  [{ group_by: 'tag:a,tag:b' }, 'group_by'],
  [{ model: '' }, 'model'],
  [{ model: 'x'.repeat(257) }, 'model'],
  [{ model: ['a', 'b'] }, 'model'],
  [{ run_id: '' }, 'run_id'],
  [{ run_id: 'two words' }, 'run_id'],
  [{ run_id: 'r'.repeat(129) }, 'run_id'],
  [{ run_id: ['a', 'b'] }, 'run_id'],
  [{ project_id: '' }, 'project_id'],
  [{ project_id: 'proj-x' }, 'project_id'],
  [{ project_id: [PROJECT, PROJECT] }, 'project_id'],
  [{ api_type: '' }, 'api_type'],
  [{ api_type: 'chat' }, 'api_type'],
  [{ api_type: ['messages', 'messages'] }, 'api_type'],
])('refuses %j with the name of the parameter', (query, param) => {
  expect(parseUsageQuery(query, NOW)).toMatchObject({ kind: 'refusal', code: 'invalid_request', param });
});

it('never throws', () => {
  const names = fc.constantFrom(
    'start_date',
    'end_date',
    'group_by',
    'model',
    'run_id',
    'project_id',
    'api_type',
  );
  fc.assert(
    fc.property(fc.dictionary(names, fc.oneof(fc.string(), fc.anything())), (query) => {
      const result = parseUsageQuery(query, NOW);
      if (!isRefusal(result)) expect(result.startDate <= result.endDate).toBe(true);
    }),
    fuzzRuns(),
  );
});
