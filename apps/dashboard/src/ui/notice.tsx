import type { ReactNode } from 'react';
import { cx } from './cx';
import { Icon } from './icons';

type Tone = 'plain' | 'warn' | 'bad' | 'good';

const TONES: Readonly<Record<Tone, string>> = {
  plain: 'border-line bg-panel text-ink',
  warn: 'border-warn/35 bg-warn-soft text-warn',
  bad: 'border-bad/35 bg-bad-soft text-bad',
  good: 'border-accent/35 bg-accent-soft text-accent-strong',
};

interface NoticeProps {
  readonly tone?: Tone;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** A callout. */
export function Notice({ tone = 'plain', title, children, action }: NoticeProps) {
  const icon = tone === 'good' ? 'check' : tone === 'plain' ? 'info' : 'alert';
  return (
    <div
      role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}
      className={cx(
        'flex flex-wrap items-start gap-x-3 gap-y-2 rounded-md border px-3 py-2.5 text-sm',
        TONES[tone],
      )}
    >
      <Icon name={icon} className="mt-0.5" />
      <div className="min-w-0 flex-1 basis-60">
        {title !== undefined && <p className="font-medium">{title}</p>}
        {children !== undefined && <div className="text-ink">{children}</div>}
      </div>
      {action}
    </div>
  );
}

const BADGES: Readonly<Record<Tone | 'faint', string>> = {
  plain: 'text-ink-soft bg-sunken',
  faint: 'text-ink-faint bg-sunken',
  warn: 'text-warn bg-warn-soft',
  bad: 'text-bad bg-bad-soft',
  good: 'text-accent bg-accent-soft',
};

/** A short state label. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone | 'faint';
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        'inline-flex items-center rounded-sm px-1.5 text-xs font-medium whitespace-nowrap',
        BADGES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** Whether something is on. */
export function OnOff({ on }: { readonly on: boolean }) {
  return on ? <Badge tone="good">On</Badge> : <Badge tone="faint">Off</Badge>;
}
