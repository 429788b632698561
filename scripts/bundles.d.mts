import type { Loader, Plugin } from "esbuild";

/** How sources that are no TypeScript come into a bundle. */
export const sources: { loader: Record<string, Loader>; plugins: Plugin[] };

/** What esbuild is told for each bundle. */
export function bundles(options: { readonly minify: boolean }): import("esbuild").BuildOptions[];
