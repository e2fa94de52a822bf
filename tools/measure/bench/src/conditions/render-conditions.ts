import { renderRows, renderTable } from '../report';
import { OPEN_STREAMS, type FirstTokenRow } from './first-token';
import { type ConditionResults } from './run-conditions';

export function renderConditions({ machine, rows, firstToken, money }: ConditionResults): string {
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}`,
    `Pinned: ${machine.pinned}`,
    '',
    renderRows(rows),
    '',
    renderFirstToken(firstToken),
    ...(money === null ? [] : ['', `Money: ${money.text}`]),
    '',
  ].join('\n');
}

export function renderFirstToken(rows: readonly FirstTokenRow[]): string {
  return renderTable([
    ['', '', 'p50 ms', 'p99 ms', 'added p50 ms'],
    ...rows.map(({ target, p50Ms, p99Ms, addedP50Ms }, index) => [
      index === 0 ? `first token while ${OPEN_STREAMS} streams are open` : '',
      target,
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      addedP50Ms === null ? '' : addedP50Ms.toFixed(2),
    ]),
  ]);
}
