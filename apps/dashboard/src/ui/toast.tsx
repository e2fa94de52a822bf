import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { IconButton } from './button';
import { cx } from './cx';
import { Icon } from './icons';

interface Toast {
  readonly id: number;
  readonly text: ReactNode;
  readonly failed: boolean;
}

const SHOWN_MS = 6_000;
const MAX_TOASTS = 3;

type ShowToast = (text: ReactNode, options?: { readonly failed?: boolean }) => void;

const Context = createContext<ShowToast>(() => undefined);

/** Shows the result of an action that the page itself does not show. */
export const useToast = () => useContext(Context);

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback<ShowToast>((text, { failed = false } = {}) => {
    setToasts((all) => [...all.slice(1 - MAX_TOASTS), { id: (all.at(-1)?.id ?? 0) + 1, text, failed }]);
  }, []);
  const list = useMemo(
    () => toasts.map((toast) => <ToastView key={toast.id} toast={toast} onClose={close} />),
    [toasts, close],
  );
  return (
    <Context.Provider value={show}>
      {children}
      <div role="status" className="fixed right-4 bottom-4 z-70 grid w-80 max-w-[calc(100vw-2rem)] gap-2">
        {list}
      </div>
    </Context.Provider>
  );
}

function ToastView({ toast, onClose }: { readonly toast: Toast; readonly onClose: (id: number) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => onClose(toast.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast.id, onClose]);
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-paper py-1.5 pr-1.5 pl-3 text-sm shadow-float animate-rise">
      <Icon
        name={toast.failed ? 'alert' : 'check'}
        className={cx('mt-1.5', toast.failed ? 'text-bad' : 'text-accent')}
      />
      <p className="min-w-0 flex-1 py-1">{toast.text}</p>
      <IconButton small className="!w-7" icon="close" label="Close" onClick={() => onClose(toast.id)} />
    </div>
  );
}
