// Before the first paint, and a file of its own since the policy of the pages allows no inline script.
(() => {
  const chosen = localStorage.getItem('theme') ?? 'system';
  const dark =
    chosen === 'dark' || (chosen === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
