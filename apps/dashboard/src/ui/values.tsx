import { createContext, useContext } from 'react';
import { exactUsd, usdParts } from '../format/money';
import { exactDay, exactTime, relativeTime } from '../format/time';
import { visible } from '../format/unseen';
import { useTicks } from './clock';
import { cx } from './cx';
import { Tip } from './tooltip';

/** How many digits below a cent there is room for, so that amounts of a column stand with their points under each other. */
export const FineDigits = createContext(0);

/** An amount, whole: what is below a cent is there too, more quietly. */
export function Money({ usd, className }: { readonly usd: string; readonly className?: string }) {
  const room = useContext(FineDigits);
  const { sign, dollars, cents, fine } = usdParts(usd);
  return (
    <span className={cx('figures whitespace-nowrap', className)}>
      {sign}${dollars}.{cents}
      {fine !== '' && <span className="text-[0.92em] text-ink-faint">{fine}</span>}
      {room > fine.length && (
        <span
          aria-hidden="true"
          className="inline-block text-[0.92em]"
          style={{ width: `${room - fine.length}ch` }}
        />
      )}
    </span>
  );
}

export { exactUsd, visible };

/** How long ago, or until; the exact moment on hover, on focus and for machines. */
export function Time({ at, className }: { readonly at: string; readonly className?: string }) {
  useTicks();
  return (
    <Tip text={exactTime(at)}>
      <time dateTime={at} tabIndex={0} className={cx('whitespace-nowrap', className)}>
        {relativeTime(at)}
      </time>
    </Tip>
  );
}

/** A day of UTC. */
export function Day({ on }: { readonly on: string }) {
  return (
    <Tip text={`Until the end of ${exactDay(on)}, UTC`}>
      <time dateTime={on} tabIndex={0} className="whitespace-nowrap">
        {exactDay(on)}
      </time>
    </Tip>
  );
}

/** What somebody else wrote: it keeps its direction of writing to itself, and long words break. */
export function Text({ children, className }: { readonly children: string; readonly className?: string }) {
  return <bdi className={cx('[overflow-wrap:anywhere]', className)}>{visible(children)}</bdi>;
}

/** As `Text`; a narrow place breaks it behind the @ before it breaks a word. */
export function Email({ children, className }: { readonly children: string; readonly className?: string }) {
  const at = children.lastIndexOf('@') + 1;
  return (
    <bdi className={cx('[overflow-wrap:anywhere]', className)}>
      {visible(children.slice(0, at))}
      <wbr />
      {visible(children.slice(at))}
    </bdi>
  );
}

export function Id({ children, className }: { readonly children: string; readonly className?: string }) {
  return (
    <code className={cx('font-mono text-[0.93em] [overflow-wrap:anywhere]', className)}>
      {visible(children)}
    </code>
  );
}
