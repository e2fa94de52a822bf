/** Vite bundles style sheets, which are imported for their effect only. */
declare module '*.css';
