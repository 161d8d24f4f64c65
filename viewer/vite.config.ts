import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

// One page per call: `vite build --mode report` makes dist/report.html. Everything is inside the
// file, so it opens from a disk without a network.
export default defineConfig(({ mode }) => ({
    root: fileURLToPath(new URL(".", import.meta.url)),
    assetsInclude: ["**/*.gz"],
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
    build: {
        outDir: "dist",
        emptyOutDir: false,
        target: "es2022",
        rollupOptions: { input: `${mode}.html` },
    },
    // `npm test` runs what needs no more than Node; with --mode wasm, the modules of scripts/wasm. With
    // SPRINGTIME_PROGRAM, the pages that it writes are opened in a browser.
    test: {
        include: [`tests/${process.env.SPRINGTIME_PROGRAM ? "browser/" : mode === "wasm" ? "wasm/" : ""}*.test.ts`],
        environment: "node",
        testTimeout: 600_000, // for what hangs: no test measures time
        hookTimeout: 600_000,
        fileParallelism: false,
    },
}));
